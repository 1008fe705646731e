-- expect: global 2
local function f () return self end
f ()
