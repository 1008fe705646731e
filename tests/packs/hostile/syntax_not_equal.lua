-- expect: syntax 2
local b = 1 != 2
