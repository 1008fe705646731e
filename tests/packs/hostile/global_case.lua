-- expect: global 2
local s = String
