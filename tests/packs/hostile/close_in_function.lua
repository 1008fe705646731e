-- expect: close 2
local function f () local x <close> = nil end
f ()
