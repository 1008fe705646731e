-- expect: syntax 2
break
