-- expect: method 2
local n = ("i4"):packsize ()
