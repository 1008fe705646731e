-- expect: module 2
local x = math.floor.x
