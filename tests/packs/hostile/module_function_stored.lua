-- expect: module 2
local t = { floor = math.floor }
