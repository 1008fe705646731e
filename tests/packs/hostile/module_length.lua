-- expect: module 2
local n = #table
