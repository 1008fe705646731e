-- expect: escape 2
local s = "a\u{200b}b"
