-- expect: require 2
pcall (require, "own")
