-- expect: module 2
if ag then local x = 1 end
