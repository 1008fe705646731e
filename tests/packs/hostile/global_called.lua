-- expect: global 2
undeclared ()
