-- expect: absent 2
local p = io.popen ("id")
