-- expect: absent 2
local s = package.searchers
