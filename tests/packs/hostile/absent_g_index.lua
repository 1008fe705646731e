-- expect: environment 2
local f = _G["lo" .. "ad"]
