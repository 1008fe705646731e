-- expect: syntax 2
local n = 3x
