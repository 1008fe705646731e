-- expect: absent 2
rawset ({}, 1, 2)
