-- expect: absent 2
local n = string.unpack ("i4", "abcd")
