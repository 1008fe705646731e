-- expect: method 3
local s = "x"
local d = s:dump ()
