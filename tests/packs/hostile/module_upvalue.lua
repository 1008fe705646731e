-- expect: module 3
local function f ()
    return function () return utf8 end
end
f () ()
