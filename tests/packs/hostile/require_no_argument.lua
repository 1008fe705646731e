-- expect: require 2
local x = require ()
