-- expect: syntax 3
return 1
local x = 2
