-- expect: syntax 3
if true then
