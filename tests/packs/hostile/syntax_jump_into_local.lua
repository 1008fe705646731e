-- expect: label 2, syntax 2, label 2
do goto a local x ::a:: x = 1 end
