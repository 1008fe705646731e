-- expect: absent 2
local n = collectgarbage ("count")
