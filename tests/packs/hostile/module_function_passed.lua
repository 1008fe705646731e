-- expect: module 2
pcall (string.rep, "x", 1e9)
