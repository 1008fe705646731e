-- One behaviour of every kind; each says in an event what it was given. SPDX-License-Identifier: Apache-2.0
local function ids (things)
    local list = ag.list {}
    for i, thing in ipairs (things) do
        list[i] = thing.id
    end
    return list
end

ag.behavior { name = "ready", on = { "object.created", "patch.applied", "relation.removed" },
    pattern = "(t:task {status: 'open'}) WHERE NOT EXISTS {(t)-[:needs]->(d:task {status: 'open'})}",
    function (event, graph, ctx)
        local list = ag.list {}
        for i, match in ipairs (ctx.matches) do
            list[i] = match.t
        end
        graph.emit ("said.ready", { tasks = list })
    end }

ag.behavior { name = "any", pattern = "(a:alarm {on: true})", priority = -1, function (event, graph, ctx)
    graph.emit ("said.rang", { by = event.type })
    graph.patch (ctx.matches[1].a, { on = false })
end }

ag.behavior { name = "all", on = { "count" }, pattern = "(t:task)", function (event, graph, ctx)
    graph.emit ("said.all", { n = #ctx.matches })
end }

ag.behavior { name = "score", on = { "score" }, where = { ["a.n"] = { [">="] = 2, ["<"] = 4 }, sort = { ["in"] = { "x", "y" } } },
    function (event, graph, ctx)
        graph.emit ("said.score", { n = event.payload.a.n })
    end }

ag.behavior { name = "low", on = { "rank" }, function (event, graph, ctx) graph.emit ("said.rank", { who = "low" }) end }
ag.behavior { name = "high", on = { "rank" }, priority = 5, function (event, graph, ctx)
    graph.emit ("said.rank", { who = "high" })
end }

ag.behavior { name = "look", on = { "look" },
    view = { around = "event.payload.id", depth = 2, types = { "task" }, recent_events = 3 },
    function (event, graph, ctx)
        local view = ctx.view
        local last = view.events[#view.events]
        graph.emit ("said.view", { objects = ids (view.objects), relations = #view.relations, events = #view.events,
            last = last and last.type, truncated = view.truncated == true })
    end }

ag.behavior { name = "late", on = { "job" }, activate_after = 2, function (event, graph, ctx)
    graph.emit ("said.late", { n = event.payload.n })
end }

ag.behavior { name = "stale", on = { "check" }, activate_after = "1 event", pattern = "(t:task {status: 'open'})",
    function (event, graph, ctx)
        graph.emit ("said.open", { task = ctx.matches[1].t })
    end }

ag.relation_behavior { name = "nudge", relation = "needs", on = { "nudge" }, activate_after = 1,
    function (relation, event, graph, ctx)
        graph.emit ("said.nudge", { relation = relation.id })
    end }
