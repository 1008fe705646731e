-- expect: label 2
::done::
