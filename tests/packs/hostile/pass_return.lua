-- expect: pass
local m = {}
function m.f (x) return x end
return m
