-- expect: absent 2
local f = io:len ()
