-- expect: absent 2
local s = string.pack ("i4", 7)
