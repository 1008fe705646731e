-- expect: pass
local graph = { drop = 1 }
local x = graph.drop
