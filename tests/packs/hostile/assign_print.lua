-- expect: assign 2
print = nil
