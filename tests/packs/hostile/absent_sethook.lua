-- expect: absent 2
debug.sethook ()
