-- expect: method 3
local f = tostring
f (1):unpack ("b")
