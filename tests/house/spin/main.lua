-- Every turn of the wheel is the cause of the next: invocations without end. SPDX-License-Identifier: Apache-2.0
ag.behavior { name = "spin", on = { "spin.due" }, function (event, graph, ctx)
    local turn = graph.add_object ("turn", { n = event.payload.n })
    graph.emit ("spin.due", { n = event.payload.n + 1, from = turn })
end }
