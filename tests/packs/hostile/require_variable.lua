-- expect: require 3
local name = "own"
local x = require (name)
