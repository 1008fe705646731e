-- expect: module 2
table ()
