-- expect: unseen 2
local a​b = 1
