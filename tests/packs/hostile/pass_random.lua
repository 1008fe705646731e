-- expect: pass
local n = math.random (3)
