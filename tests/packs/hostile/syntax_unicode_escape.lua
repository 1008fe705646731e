-- expect: syntax 2
local s = "\u{110000000}"
