-- expect: pass
local function f () return (("x"):gsub (".", f)) end
pcall (f)
