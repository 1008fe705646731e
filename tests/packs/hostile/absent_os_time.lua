-- expect: absent 2
local t = os.time ()
