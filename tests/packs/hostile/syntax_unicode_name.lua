-- expect: syntax 2
local größe = 1
