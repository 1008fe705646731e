-- expect: module 2
local d = string["dump"]
