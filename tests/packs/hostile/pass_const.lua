-- expect: pass
local x <const> = 1
local y = x + 1
