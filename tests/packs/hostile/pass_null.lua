-- expect: pass
local t = { x = ag.null }
local b = t.x == ag.null
