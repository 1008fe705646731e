-- expect: environment 2
_G.load ("return 1")
