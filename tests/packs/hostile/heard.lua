-- expect: heard 4, heard 9, heard 9
local KEPT = "goal.creted"
ag.behavior { name = "a", view = { on = { "goal.creted" } }, where = { on = "x" },
    on = { "task.done", "goal.creted" }, function (event, graph, ctx)
        local on = { "goal.creted" }
        ctx.log (on[1])
    end }
ag.relation_behavior ({ relation = "r", name = "b",
    on = { "runtime.idle"; "object.made", }, function () end })
ag.behavior { name = "c", on = { KEPT }, function () end }
ag.behavior { name = "d", on = { "goal." .. "creted" }, function () end }
ag.behavior { name = "e", on = { "own.type", "goal.created" }, function () end }
