-- expect: pass
pcall (function () return table.unpack ({}, 1, 1e8) end)
