-- expect: absent 2
math.randomseed (1)
