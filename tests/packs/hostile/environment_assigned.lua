-- expect: environment 2
_ENV = {}
