-- expect: absent 2
local f = load ("return 1")
