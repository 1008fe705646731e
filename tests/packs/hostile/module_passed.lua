-- expect: module 2
pairs (string)
