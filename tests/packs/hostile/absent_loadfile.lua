-- expect: absent 2
local f = loadfile ("/etc/passwd")
