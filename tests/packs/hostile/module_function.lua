-- expect: module 2
function string.trim (s) return s end
