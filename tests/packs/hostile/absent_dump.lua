-- expect: absent 2
local s = string.dump (function () end)
