-- expect: module 2
string.rep = nil
