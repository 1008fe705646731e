-- expect: require 2
local r = require
r "own"
