-- expect: absent 2
local b = rawequal (1, 1)
