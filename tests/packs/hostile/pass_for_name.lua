-- expect: pass
for _, load in ipairs ({ 1 }) do local x = load end
