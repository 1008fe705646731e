-- expect: assign 2
function pairs () end
