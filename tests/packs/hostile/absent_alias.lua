-- expect: absent 2
local l = load
local f = l ("return 1")
