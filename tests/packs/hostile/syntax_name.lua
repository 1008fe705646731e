-- expect: syntax 3
print
