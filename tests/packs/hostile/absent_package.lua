-- expect: absent 2
local f = package.loadlib ("libc.so.6", "system")
