-- expect: pass
local ok = pcall (function () return ("x"):rep (1e9) end)
