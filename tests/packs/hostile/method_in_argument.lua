-- expect: method 2
print (("x"):load ())
