-- expect: module 2
return table
