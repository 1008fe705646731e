-- expect: label 2, label 2
do local n = 0 ::again:: n = n + 1 if n < 10 then goto again end end
