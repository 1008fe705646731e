-- expect: assign 3
local a
a, b = 1, 2
