-- expect: absent 2
os.remove ("main.lua")
