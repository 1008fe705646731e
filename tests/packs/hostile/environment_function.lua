-- expect: environment 2
local function _ENV () end
