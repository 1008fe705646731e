-- expect: field 2
ag.behaviour { }
