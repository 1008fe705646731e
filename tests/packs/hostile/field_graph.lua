-- expect: field 3
ag.behavior { name = "h", on = { "x" },
    function (event, graph, ctx) graph.drop () end }
