-- expect: pass
local a = 1 << 2 | 3 & ~4 ~ 5 // 2 % 3 ^ 2
local b = not (a == 1) and a ~= 2 or a <= 3
