-- One greeting a goal, in the words of the settings. SPDX-License-Identifier: Apache-2.0
ag.behavior { name = "greet", on = { "goal.created" }, function (event, graph, ctx)
    graph.add_object ("greeting", { text = ctx.settings.words .. ", " .. event.payload.goal })
end }
