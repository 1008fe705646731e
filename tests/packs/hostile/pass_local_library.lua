-- expect: pass
local string = { dump = 1 }
local d = string.dump
local s = string
