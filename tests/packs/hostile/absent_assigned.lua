-- expect: absent 2
load = function () end
