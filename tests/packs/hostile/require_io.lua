-- expect: missing 2
local x = require "io"
