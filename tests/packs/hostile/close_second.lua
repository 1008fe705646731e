-- expect: close 2
local a, b <close> = 1, nil
