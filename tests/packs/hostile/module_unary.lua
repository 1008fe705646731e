-- expect: module 2
local b = not string
