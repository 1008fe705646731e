-- Each goal is answered with one object: the first event that a worker commits.
-- SPDX-License-Identifier: Apache-2.0
ag.behavior { name = "answer", on = { "goal.created" }, function (event, graph, ctx)
    graph.add_object ("answer", { goal = event.payload.goal })
end }

-- The smallest piece of work: one event in, one object out.
ag.behavior { name = "step", on = { "step.due" }, function (event, graph, ctx)
    graph.add_object ("step", { n = event.payload.n })
end }
