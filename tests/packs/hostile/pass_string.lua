-- expect: pass
local s = "load os.execute _ENV goto"
local t = [[ _G.io dofile ]]
local u = 'debug'
