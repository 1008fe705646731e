-- expect: pass
error (nil)
