-- expect: absent 2
local s = "\" --" local f = os
