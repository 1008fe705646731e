-- expect: close 2
local x <close> = nil
