-- expect: syntax 2
{ "a": 1 }
