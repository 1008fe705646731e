-- expect: syntax 2
local function f () return ... end
