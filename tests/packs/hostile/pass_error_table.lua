-- expect: pass
pcall (error, { code = 1 })
