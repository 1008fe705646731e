-- expect: field 2
local n = table.getn ({})
