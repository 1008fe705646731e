-- expect: environment 3
local t = {}
local g = t._G
