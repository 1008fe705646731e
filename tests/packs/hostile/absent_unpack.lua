-- expect: absent 2
local a = unpack ({})
