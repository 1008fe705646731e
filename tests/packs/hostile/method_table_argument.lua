-- expect: method 2
local x = ("x"):exec { }
