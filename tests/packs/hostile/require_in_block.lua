-- expect: require 3
do
    local x = require "own"
end
