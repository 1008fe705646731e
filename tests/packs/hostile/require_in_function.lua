-- expect: require 2
local function f () local x = require "own" end
f ()
