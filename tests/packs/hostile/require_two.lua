-- expect: require 2
local x, y = require "own", 1
