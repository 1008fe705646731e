-- expect: absent 2
local load = load
load ("return 1")
