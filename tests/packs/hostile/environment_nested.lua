-- expect: environment 3
local function f ()
    return function () return function () return _ENV end end
end
f ()
