-- expect: assign 2
ag = {}
