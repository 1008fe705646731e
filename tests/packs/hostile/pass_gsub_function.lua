-- expect: pass
local s = ("abc"):gsub (".", function (c) return c:upper () end)
