-- expect: module 2
pcall (function () return "" .. utf8 end)
