-- expect: absent 2
io.write ("\27]0;title\7")
