-- expect: pass
local s = "a\0b\27"
