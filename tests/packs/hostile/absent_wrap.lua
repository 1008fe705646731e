-- expect: absent 2
local f = coroutine.wrap (function () while true do end end)
