-- expect: pass
local t = {}
t.load = 1
t.dump = 2
local x = t.load
