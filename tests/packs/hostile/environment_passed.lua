-- expect: environment 2
pairs (_ENV)
