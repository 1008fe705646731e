-- expect: pass
local load = tostring
local s = load (1)
