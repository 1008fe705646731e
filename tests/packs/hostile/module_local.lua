-- expect: module 2
local s = string
