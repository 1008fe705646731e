-- expect: absent 2
function warn () end
