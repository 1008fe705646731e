-- expect: syntax 2
local end = 1
