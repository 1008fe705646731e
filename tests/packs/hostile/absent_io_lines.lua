-- expect: absent 3
local n = 0
for line in io.lines ("/etc/passwd") do n = n + #line end
