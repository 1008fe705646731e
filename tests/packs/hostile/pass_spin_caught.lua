-- expect: pass
for i = 1, 3 do pcall (function () local n = 0 for k = 1, 1000 do n = n + k end end) end
