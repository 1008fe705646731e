-- expect: assign 2
local function f () leaked = 1 end
f ()
