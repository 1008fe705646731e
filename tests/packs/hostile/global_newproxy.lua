-- expect: global 2
local p = newproxy (true)
