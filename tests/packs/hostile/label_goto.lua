-- expect: label 2, label 3
goto done
::done::
