-- expect: absent 5
do
    local load = tostring
    load (1)
end local f = load
