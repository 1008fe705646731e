-- expect: global 2
local b = bit32
