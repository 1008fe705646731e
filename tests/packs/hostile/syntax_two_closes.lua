-- expect: close 2, syntax 2, close 2
local a <close>, b <close> = nil, nil
