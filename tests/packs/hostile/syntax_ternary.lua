-- expect: syntax 2
local x = true ? 1 : 2
