-- licences - audits the copyright files of the packages on this machine.
--
-- A goal (or a schedule) lists the packages and asks for a judgement of each; each is judged in an
-- invocation of its own, which reads one file. Everything has an id made from the package's name, so a
-- second run changes what changed and nothing else, and a fork's findings meet the parent's.
-- SPDX-License-Identifier: Apache-2.0

local copyright = require "copyright"
local findings = require "findings"
local equal = require "equal"

-- An id names one thing for ever, and r7.1 would be one that a fork mints.
local function document_id (package)
    local name = package:gsub ("[^%w.+_-]", "_")
    if name:find ("^r%w+%.%d+$") then
        name = name:gsub ("%.", "_")
    end
    return "document#" .. name
end

local function set (graph, id, kind, data)
    local present = graph.get (id)
    if not present then
        graph.add_object (kind, data, { id = id })
    elseif not equal (present.data, data) then
        graph.replace (id, data)
    else
        return false
    end
    return true
end

-- The licences that Debian ships become objects, so that judging a file reads no other file.
local function keep_licences (graph, ctx, directory)
    local names = ag.list {}
    for _, name in ipairs (assert (ctx.list (directory))) do
        local text, hash = ctx.read (directory .. "/" .. name)
        if text then
            names[#names + 1] = name
            set (graph, "licence#" .. name, "licence", { name = name, hash = hash, text = ag.utf8 (text) })
        end
    end
    return names
end

-- Removes the findings of a document that no longer hold. An id is never used twice: how often each was
-- withdrawn is kept, so that one that comes back gets another id.
local function withdraw (graph, data, held)
    for _, id in ipairs (data.findings) do
        if not held[id] then
            local key = id:match ("^finding#[^/]+/([^/]+/[^/]+)")
            data.withdrawn[key] = (data.withdrawn[key] or 0) + 1
            graph.remove (id)
        end
    end
end

-- A package that is gone has no findings; its document says so.
local function forget (graph, packages)
    local here = {}
    for _, package in ipairs (packages) do
        here[package] = true
    end
    for _, document in ipairs (graph.objects { type = "document" }) do
        local data = document.data
        if not here[data.package] and not data.gone then
            withdraw (graph, data, {})
            data.findings, data.gone = ag.list {}, true
            graph.replace (document.id, data)
        end
    end
end

ag.behavior { name = "survey", on = { "goal.created", "schedule.fired" },
    function (event, graph, ctx)
        local packages = assert (ctx.list (ctx.settings.documents or "/usr/share/doc"))
        local licences = keep_licences (graph, ctx, ctx.settings.licences or "/usr/share/common-licenses")
        forget (graph, packages)
        for _, package in ipairs (packages) do
            graph.emit ("document.due", { package = package, document = document_id (package), licences = licences })
        end
        graph.emit ("report.due")
    end }

-- The id of each finding of a document, by "kind/name".
local function finding_ids (document, list, withdrawn)
    local ids = {}
    for key in pairs (list) do
        local again = withdrawn[key] and "/" .. withdrawn[key] + 1 or ""
        ids[key] = ("finding#%s/%s%s"):format (document:match ("#(.*)"), key, again)
    end
    return ids
end

-- Sets each finding, and reports those that are new or changed.
local function report (graph, document, id, finding)
    local fresh = not graph.get (id)
    if not set (graph, id, "finding", finding) then
        return
    end
    if fresh then
        graph.relate (id, document, "found_in")
    end
    graph.emit ("finding.reported", {
        id = id, package = finding.package, kind = finding.kind, name = finding.name,
        text = finding.text, similarity = finding.similarity,
    })
end

ag.behavior { name = "judge", on = { "document.due" },
    function (event, graph, ctx)
        local due = event.payload
        local path = (ctx.settings.documents or "/usr/share/doc") .. "/" .. due.package .. "/copyright"
        local text, hash = ctx.read (path)
        if not text then
            ctx.log ("debug", due.package .. ": " .. hash)
            return
        end
        local known = {}
        for _, name in ipairs (due.licences) do
            known[name:lower ()] = name
        end
        local function text_of (name)
            local licence = graph.get ("licence#" .. name)
            return licence and licence.data.text
        end
        local found = copyright.read (text)
        local list = findings.of (text, found, known, ctx.settings.strict or 0.8, text_of)
        local old = graph.get (due.document)
        local data = {
            package = due.package, path = path, hash = hash,
            format = found.machine and "machine-readable" or "free text",
            licences = ag.list {}, findings = ag.list {},
            withdrawn = old and old.data.withdrawn or {},
        }
        local ids, held = finding_ids (due.document, list, data.withdrawn), {}
        for _, id in pairs (ids) do
            data.findings[#data.findings + 1], held[id] = id, true
        end
        for name in pairs (found.names) do
            data.licences[#data.licences + 1] = ag.utf8 (name, 100)
        end
        if old then
            withdraw (graph, { findings = old.data.findings, withdrawn = data.withdrawn }, held)
        end
        set (graph, due.document, "document", data)
        for key, finding in pairs (list) do
            finding.package = due.package
            report (graph, due.document, ids[key], finding)
        end
    end }

ag.behavior { name = "sum_up", on = { "report.due" },
    function (event, graph, ctx)
        local report = { strict = ctx.settings.strict or 0.8, documents = 0, machine_readable = 0, findings = 0, kinds = {} }
        for _, document in ipairs (graph.objects { type = "document" }) do
            report.documents = report.documents + 1
            if document.data.format == "machine-readable" then
                report.machine_readable = report.machine_readable + 1
            end
        end
        for _, finding in ipairs (graph.objects { type = "finding" }) do
            local kind = finding.data.kind
            report.findings = report.findings + 1
            report.kinds[kind] = (report.kinds[kind] or 0) + 1
        end
        set (graph, "report#licences", "report", report)
    end }
