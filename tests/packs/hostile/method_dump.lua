-- expect: method 2
local d = ("x"):dump ()
