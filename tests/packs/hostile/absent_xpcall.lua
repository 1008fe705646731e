-- expect: absent 2
local ok = xpcall (error, print)
