-- expect: missing 2
local x = require "../../etc/passwd"
