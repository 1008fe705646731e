-- expect: absent 2
if io then local x = 1 end
