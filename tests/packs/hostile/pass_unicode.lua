-- expect: pass
local s = "größe – 日本語 😀"
-- naïve
