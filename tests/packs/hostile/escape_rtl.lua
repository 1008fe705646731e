-- expect: escape 2
local s = "\u{202E}"
