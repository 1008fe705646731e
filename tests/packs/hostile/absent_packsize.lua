-- expect: absent 2
local n = string.packsize ("i4")
