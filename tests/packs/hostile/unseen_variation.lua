-- expect: unseen 2
local s = "a️"
