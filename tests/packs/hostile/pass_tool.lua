-- expect: pass
ag.tool { name = "t1", args = { text = "string" }, function (args, ctx) return args.text end }
