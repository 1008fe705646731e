-- expect: syntax 2
local n = 0x
