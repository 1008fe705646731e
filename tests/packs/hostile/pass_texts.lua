-- expect: pass
local a = "\x41\65\u{1F600}\z
    b\
c"
local b = [==[ ]] ]==]
