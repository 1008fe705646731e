-- expect: absent 4
local f = function () for i = 1, 100 do end end
for i = 1, 20000 do
    local c = coroutine.wrap (f) c ()
end
