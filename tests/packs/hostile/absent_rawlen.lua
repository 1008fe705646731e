-- expect: absent 2
local n = rawlen ({})
