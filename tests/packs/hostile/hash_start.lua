#!/usr/bin/lua -- expect: hash 1
local x = 1
