-- expect: absent 3
local s = "a\
b" local f = io
