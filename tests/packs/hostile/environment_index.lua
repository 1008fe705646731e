-- expect: environment 2
local f = _ENV["lo" .. "ad"]
