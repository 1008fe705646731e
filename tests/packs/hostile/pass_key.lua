-- expect: pass
local t = { load = 1, io = 2, os = 3, debug = 4, ["_ENV"] = 5, print = 6 }
local x = t.load + t.io + t.os
