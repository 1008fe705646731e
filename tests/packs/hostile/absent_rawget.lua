-- expect: absent 2
local v = rawget ({}, 1)
