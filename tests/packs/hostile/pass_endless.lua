-- expect: pass
while true do end
