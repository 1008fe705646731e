-- expect: field 2
local n = math.pow (2, 3)
