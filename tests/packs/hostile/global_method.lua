-- expect: global 2
undeclared:sub (1)
