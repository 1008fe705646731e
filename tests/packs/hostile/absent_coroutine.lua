-- expect: absent 2
local c = coroutine.create (function () while true do end end)
