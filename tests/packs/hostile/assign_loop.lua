-- expect: assign 2
for i = 1, 2 do last = i end
