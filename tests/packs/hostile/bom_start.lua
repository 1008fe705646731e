-- expect: bom 1
local x = 1
