-- expect: absent 2
warn ("@on")
