-- expect: pass
local s = "\27Lua\84\0\25\147\13\10\26\10"
