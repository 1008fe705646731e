-- expect: pass
local n = string.len "x"
local t = ag.list { 1 }
local s = ("x"):rep (2):upper ()
