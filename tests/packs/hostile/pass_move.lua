-- expect: pass
pcall (function () table.move ({}, 1, 3e7, 1) end)
