-- expect: absent 2
local v = _VERSION
