-- expect: global 5
do
    local a = 1
end
local b = a
