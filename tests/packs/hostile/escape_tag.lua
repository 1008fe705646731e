-- expect: escape 2
local s = "\u{E0041}"
