-- expect: field 4
ag.behavior { name = "h", on = { "x" },
    function (event, graph, ctx)
        local function f () return ctx.env end f ()
    end }
