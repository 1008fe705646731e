-- expect: absent 2
local d = string.dump
d (print)
