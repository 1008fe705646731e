-- expect: syntax 2
for i = 1 do end
