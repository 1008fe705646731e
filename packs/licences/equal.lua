-- equal - are two values the same? Lists and maps by what they hold.
-- SPDX-License-Identifier: Apache-2.0

local function equal (a, b)
    if type (a) ~= "table" or type (b) ~= "table" then
        return a == b
    end
    for key, value in pairs (a) do
        if not equal (value, b[key]) then
            return false
        end
    end
    for key in pairs (b) do
        if a[key] == nil then
            return false
        end
    end
    return true
end

return equal
