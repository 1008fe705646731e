-- expect: global 2
local function f () return undeclared end
f ()
