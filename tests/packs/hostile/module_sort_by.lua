-- expect: module 2
table.sort ({ 2, 1 }, math.ult)
