-- expect: method 3
local s = "i4"
local d = s:pack (7)
