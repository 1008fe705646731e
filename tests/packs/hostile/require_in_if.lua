-- expect: require 2
if true then local x = require "own" end
