-- expect: environment 2
local t = { _ENV = 1 }
