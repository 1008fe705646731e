-- expect: module 2
math:rep ()
