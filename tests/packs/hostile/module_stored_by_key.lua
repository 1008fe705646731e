-- expect: module 2
local t = { lib = table }
