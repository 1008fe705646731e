-- expect: environment 3
local t = {}
t._ENV = 1
