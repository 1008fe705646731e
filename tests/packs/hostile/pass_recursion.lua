-- expect: pass
local function f (n) return n == 0 and 0 or f (n - 1) end
local x = f (3)
