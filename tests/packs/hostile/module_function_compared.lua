-- expect: module 2
local b = ag.tool == nil
