-- expect: escape 2
local s = "\226\128\174"
