-- expect: pass
local t = {}
t.t = t
local s = tostring (t)
