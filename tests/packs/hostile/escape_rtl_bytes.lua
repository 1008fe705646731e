-- expect: escape 2
local s = "\xe2\x80\xae"
