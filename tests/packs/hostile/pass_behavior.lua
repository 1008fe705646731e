-- expect: pass
ag.behavior { name = "p1", on = { "x" }, function (event, graph, ctx)
    graph.emit ("y", { n = ctx.random (3) })
    ctx.log (tostring (event.type))
end }
