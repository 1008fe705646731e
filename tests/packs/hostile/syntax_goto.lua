-- expect: label 2, syntax 2
goto nowhere
