-- expect: absent 2, absent 3
local a = io
local b = os
