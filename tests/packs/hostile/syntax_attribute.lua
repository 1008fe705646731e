-- expect: syntax 2
local x <constant> = 1
