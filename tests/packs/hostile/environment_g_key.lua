-- expect: environment 2
local t = { _G = 1 }
