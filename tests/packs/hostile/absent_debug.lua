-- expect: absent 2
local r = debug.getregistry ()
