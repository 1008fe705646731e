-- expect: method 2
local d = ("x"):rep (2):dump ()
