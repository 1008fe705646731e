-- expect: global 2
local a = a
