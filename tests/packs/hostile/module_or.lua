-- expect: module 2
local s = false or string
