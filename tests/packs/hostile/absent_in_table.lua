-- expect: absent 2
local t = { run = load }
t.run ("return 1")
