-- expect: require 2
pcall (function () local x = require:len () end)
