-- expect: absent 2
local t = setmetatable ({}, { __gc = function () while true do end end })
