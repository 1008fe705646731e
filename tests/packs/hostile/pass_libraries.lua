-- expect: pass
local x = math.floor (math.pi) + #string.rep ("x", 2)
local s = table.concat ({ utf8.char (228) })
local h = math.huge
