-- expect: unseen 2
local s = "ㅤ"
