-- expect: require 2
require "own"
