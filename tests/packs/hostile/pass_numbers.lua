-- expect: pass
local a, b, c, d = 0x1p4, 3.e1, .5, 0XA.8p-1
local e = 9223372036854775808
