-- expect: absent 3
local function f ()
    return dofile
end
f () ("x")
