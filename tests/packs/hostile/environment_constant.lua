-- expect: environment 2
local _ENV <const> = {}
