-- expect: global 2
ctx.log ("x")
