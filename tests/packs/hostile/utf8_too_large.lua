-- expect: utf8 2
local s = "ô€€"
