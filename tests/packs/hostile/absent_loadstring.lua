-- expect: absent 2
local f = loadstring ("return 1")
