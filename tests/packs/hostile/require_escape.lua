-- expect: require 2
local x = require "\111wn"
