-- expect: global 3
repeat local a = 1
until b
