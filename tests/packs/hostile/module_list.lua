-- expect: module 2
local a, b = 1, math
