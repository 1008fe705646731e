-- expect: field 2
local f = ag.exec
