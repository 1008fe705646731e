-- expect: global 2
local e = event
