-- expect: pass
local show = tostring
local list = { print, type, next }
local ok = pcall (error, "x")
