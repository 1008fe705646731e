-- expect: pass
local t = {}
for i = 1, 100 do t[i] = i end
pcall (function () table.sort (t, function () return true end) end)
