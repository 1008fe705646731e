-- expect: label 3, label 4
for i = 1, 3 do
    if i == 2 then goto continue end
    ::continue::
end
