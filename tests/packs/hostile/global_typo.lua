-- expect: global 3
local count = 1
local n = cuont + 1
