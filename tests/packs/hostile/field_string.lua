-- expect: field 2
local s = string.trim ("x")
