-- expect: absent 2
local s = "x" .. _VERSION
