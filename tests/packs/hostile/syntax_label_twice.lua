-- expect: label 2, syntax 2, label 2
do ::a:: ::a:: end
