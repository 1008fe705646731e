-- expect: absent 3
local function outer ()
    local l = loadstring
    return function () return l ("return 1") end
end
outer () ()
