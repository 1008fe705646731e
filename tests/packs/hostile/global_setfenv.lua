-- expect: global 2
setfenv (1, {})
