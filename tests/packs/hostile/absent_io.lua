-- expect: absent 2
local f = io.open ("escaped", "w")
