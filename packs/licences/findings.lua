-- findings - what is wrong with one copyright file.
-- SPDX-License-Identifier: Apache-2.0

local copyright = require "copyright"

local findings = {}

local shown = 300 -- bytes of a text that stand in a finding

-- A part of an id: what an id cannot hold becomes "_".
local function part (text)
    return (ag.utf8 (text, 80):gsub ("[^%w.+_-]", "_"))
end

local function excerpt (text)
    return ag.utf8 (text, shown)
end

-- Keeps one finding a kind and name: of two texts that differ, the one that differs more.
local function add (list, finding)
    local key = finding.kind .. "/" .. part (finding.name)
    local other = list[key]
    if not other or (finding.similarity or 0) < (other.similarity or 0) then
        list[key] = finding
    end
end

-- A name that stands for files, has no text in this file and none that Debian ships.
local function undefined_names (found, known, list)
    local defined = {}
    for _, claim in ipairs (found.claims) do
        if claim.defined then
            defined[claim.expression:lower ()] = true
            for _, name in ipairs (claim.names) do
                defined[name:lower ()] = true
            end
        end
    end
    for _, claim in ipairs (found.claims) do
        for _, name in ipairs (claim.used and not defined[claim.expression:lower ()] and claim.names or {}) do
            if not defined[name:lower ()] and not copyright.common (name, known) then
                defined[name:lower ()] = true -- one finding, however it is spelt
                add (list, {
                    kind = "undefined-name",
                    name = name,
                    severity = "medium",
                    text = excerpt ("License: " .. claim.expression),
                })
            end
        end
    end
end

local function dead_references (found, known, list)
    for _, reference in ipairs (found.references) do
        if reference.name ~= "" and not known[reference.name:lower ()] then
            add (list, {
                kind = "dead-reference",
                name = reference.name,
                severity = "high",
                text = excerpt (reference.text),
            })
        end
    end
end

-- A text under the name of a common licence that says other things than that licence says.
local function differing_texts (found, known, strict, text_of, list)
    for _, claim in ipairs (found.claims) do
        local common = #claim.names == 1 and claim.body ~= "" and not copyright.refers (claim.body)
            and copyright.common (claim.names[1], known)
        local text = common and text_of (common)
        if text then
            local similarity = math.floor (ag.containment (claim.body, text) * 1000 + 0.5) / 1000
            if similarity < strict then
                add (list, {
                    kind = "text-differs",
                    name = claim.names[1],
                    severity = similarity < 0.5 and "medium" or "low",
                    text = excerpt (claim.body),
                    similarity = similarity,
                })
            end
        end
    end
end

local function no_claim (found, text, list)
    if next (found.names) == nil then
        add (list, { kind = "no-licence", name = "none", severity = "medium", text = excerpt (text) })
    end
end

-- Findings by "kind/name". known: lower-case name -> name; text_of (name) gives a common licence's text.
function findings.of (text, found, known, strict, text_of)
    local list = {}
    undefined_names (found, known, list)
    dead_references (found, known, list)
    differing_texts (found, known, strict, text_of, list)
    no_claim (found, text, list)
    return list
end

return findings
