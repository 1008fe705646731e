-- expect: absent 2
local f = os["execute"]
