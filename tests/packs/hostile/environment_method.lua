-- expect: environment 3
local t = {}
function t:_ENV () return self end
