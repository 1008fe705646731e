-- expect: assign 2
count = 1
