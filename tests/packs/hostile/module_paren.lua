-- expect: module 2
local n = (string).len ("x")
