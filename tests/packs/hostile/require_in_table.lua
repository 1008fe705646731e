-- expect: require 2
local t = { require "own" }
