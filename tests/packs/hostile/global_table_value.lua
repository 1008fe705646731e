-- expect: global 2
local t = { undeclared }
