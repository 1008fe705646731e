-- expect: syntax 3
local x <const> = 1
x = 2
