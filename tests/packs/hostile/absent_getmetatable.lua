-- expect: absent 2
local m = getmetatable ("")
