-- Behaviours that make work for each other, which model.py does too. SPDX-License-Identifier: Apache-2.0

-- Chance, so that nobody but the record knows what it gave.
ag.tool { name = "weigh", args = { n = "number" }, function (args, ctx)
    return { n = args.n, weight = ctx.random () }
end }

ag.behavior { name = "answer", on = { "asked" }, function (event, graph, ctx)
    local weighed = ctx.call ("weigh", { n = event.payload.n })
    graph.add_object ("answer", weighed)
    graph.emit ("answered", { n = event.payload.n })
end }

-- Every new answer comes after the first other one.
ag.behavior { name = "link", on = { "object.created" }, where = { ["object.type"] = "answer" },
    function (event, graph, ctx)
        for _, other in ipairs (graph.objects { type = "answer" }) do
            if other.id ~= event.payload.id and graph.get (event.payload.id) then
                graph.relate (event.payload.id, other.id, "after")
                return
            end
        end
    end }

-- Three answers are enough.
ag.behavior { name = "prune", on = { "answered" }, function (event, graph, ctx)
    local answers = graph.objects { type = "answer" }
    if #answers > 3 then
        graph.remove (answers[1].id)
    end
end }

ag.behavior { name = "adopted", on = { "promote.applied" }, function (event, graph, ctx)
    graph.add_object ("adoption", { from = event.payload.from_run, objects = event.payload.objects_created })
end }
