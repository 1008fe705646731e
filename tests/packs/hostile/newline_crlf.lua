-- expect: newline 1
local x = 1
local y = 2
