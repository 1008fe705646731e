-- expect: method 3
local t = { "x" }
t[1]:dump ()
