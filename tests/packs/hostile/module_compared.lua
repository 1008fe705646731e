-- expect: module 2
local b = string == nil
