-- expect: environment 2
local g = _G
