-- expect: pass
local n = 0
repeat local done = n > 2 n = n + 1 until done
