-- expect: syntax 3
local x = 1
x += 1
