-- expect: absent 2
pcall (load, "return 1")
