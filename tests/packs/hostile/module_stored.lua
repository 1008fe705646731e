-- expect: module 2
local t = { string }
