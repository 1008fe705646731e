-- expect: syntax 2
print () = 1
