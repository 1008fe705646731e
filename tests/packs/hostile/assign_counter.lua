-- expect: assign 2
if not false then calls = 0 end
