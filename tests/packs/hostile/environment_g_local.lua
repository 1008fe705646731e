-- expect: environment 2
local _G = {}
