-- Each goal is answered with one object: the first event that a worker commits.
-- SPDX-License-Identifier: Apache-2.0
ag.behavior { name = "answer", on = { "goal.created" }, function (event, graph, ctx)
    graph.add_object ("answer", { goal = event.payload.goal })
end }

-- The smallest piece of work: one event in, one object out.
ag.behavior { name = "step", on = { "step.due" }, function (event, graph, ctx)
    graph.add_object ("step", { n = event.payload.n })
end }

-- Lua at work: calls, tables and texts, and one object at the end.
ag.behavior { name = "grind", on = { "grind.due" }, function (event, graph, ctx)
    local words, sum = {}, 0
    for i = 1, 20000 do
        words[i % 100] = ("%d words"):format (i)
        sum = sum + #words[i % 100]
    end
    graph.add_object ("ground", { n = sum })
end }
