-- expect: environment 2
local function f (_ENV, ...) return ... end
f ({}, 1)
