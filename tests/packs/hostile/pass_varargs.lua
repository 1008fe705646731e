-- expect: pass
local function f (...) return select ("#", ...) end
local n = f (1, 2)
