-- expect: absent 2
pcall (string.dump, print)
