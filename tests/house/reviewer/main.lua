-- The reviewer of docs/examples, in Lua. SPDX-License-Identifier: Apache-2.0
ag.tool { name = "judge", args = { text = "string", most = "number" }, function (args, ctx)
    local words = 0
    for _ in args.text:gmatch ("[^ ]+") do words = words + 1 end
    return { opinion = words > args.most and "shorten" or "keep", words = words }
end }

ag.behavior { name = "review", on = { "finding.reported" }, function (event, graph, ctx)
    local finding, limit = event.payload, graph.get ("limit#words")
    local opinion = ctx.call ("judge", { text = finding.text, most = limit and limit.data.most or 5 })
    local verdict = graph.add_object ("verdict", { finding = finding.id, opinion = opinion },
                                      { id = "verdict#" .. finding.id })
    if finding.about then graph.relate (verdict, finding.about, "about") end
    graph.emit ("verdict.given", { finding = finding.id })
end }
