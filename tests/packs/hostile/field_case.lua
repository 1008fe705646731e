-- expect: field 2
local s = string.Rep ("x", 2)
