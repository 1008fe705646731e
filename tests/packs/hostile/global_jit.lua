-- expect: global 2
local j = jit
