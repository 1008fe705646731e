-- expect: syntax 2
local a (a) = 1
