-- expect: missing 2
local x = require "require_itself_not"
