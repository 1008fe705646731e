-- expect: environment 2
for _ENV in pairs ({}) do end
