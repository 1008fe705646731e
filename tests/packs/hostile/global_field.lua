-- expect: global 2
local x = undeclared.field
