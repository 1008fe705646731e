-- expect: module 2
local insert = table.insert
