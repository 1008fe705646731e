-- expect: field 2
local s = utf8.upper ("x")
