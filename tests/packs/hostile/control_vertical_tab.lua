-- expect: control 2
local x= 1
