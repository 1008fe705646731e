-- expect: syntax 2
local $x = 1
