-- expect: syntax 2
local s = "\300"
