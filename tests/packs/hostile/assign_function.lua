-- expect: assign 2
function helper () end
