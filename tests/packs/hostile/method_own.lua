-- expect: method 3
local t = {}
t:run ()
