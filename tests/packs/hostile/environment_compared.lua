-- expect: environment 2
local b = _ENV == nil
