-- expect: syntax 2
local n = 1..2
