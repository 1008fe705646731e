-- expect: absent 3
--[==[ ]] ]=]
]==] local f = load
