-- expect: absent 3
local s = "\z
  " local f = io
