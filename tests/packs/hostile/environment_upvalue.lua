-- expect: environment 2
local e = _ENV
local function f () return e.load end
f ()
