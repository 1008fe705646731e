-- expect: utf8 2
local s = "í €"
