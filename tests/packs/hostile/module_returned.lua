-- expect: module 2
local function f () return math end
f ()
