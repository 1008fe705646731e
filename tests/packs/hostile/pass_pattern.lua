-- expect: pass
local n = ("a"):rep (200):find (".-.-.-.-.-b")
