-- expect: pass
print ("a", 1)
