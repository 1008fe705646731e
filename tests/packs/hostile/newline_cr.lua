-- expect: newline 2
local x = 1local y = 2
