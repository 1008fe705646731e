-- expect: global 2
local e = getfenv (1)
