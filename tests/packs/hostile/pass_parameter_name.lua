-- expect: pass
local function f (io, os) return io + os end
local x = f (1, 2)
