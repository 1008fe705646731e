-- expect: field 3
ag.behavior { name = "h", on = { "x" },
    function (event, graph, ctx) local x = ctx.secrets end }
