-- expect: environment 2
for _ENV = 1, 2 do end
