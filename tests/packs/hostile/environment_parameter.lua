-- expect: environment 2
local function f (_ENV) return 1 end
f ({})
