-- expect: absent 2
dofile ("/etc/passwd")
