-- expect: require 2
return require "own"
