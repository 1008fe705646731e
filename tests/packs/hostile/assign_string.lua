-- expect: assign 2
string = nil
