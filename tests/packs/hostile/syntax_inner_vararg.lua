-- expect: syntax 2
local function f (...) return function () return ... end end
