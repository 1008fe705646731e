-- expect: module 2
string.trim = function (s) return s end
