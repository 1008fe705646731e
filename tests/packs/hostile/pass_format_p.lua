-- expect: pass
pcall (function () return ("%p"):format ({}) end)
