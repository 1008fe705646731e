-- copyright - reads a Debian copyright file: the machine-readable format, or what free text gives away.
-- SPDX-License-Identifier: Apache-2.0

local copyright = {}

local directory = "/usr/share/common-licenses/"

-- Words by which a free text names its licence.
local titles = {
    { "GNU General Public License", "GPL" },
    { "GNU Lesser General Public License", "LGPL" },
    { "GNU Library General Public License", "LGPL" },
    { "GNU Free Documentation License", "GFDL" },
    { "Apache License", "Apache-2.0" },
    { "Artistic License", "Artistic" },
    { "Mozilla Public License", "MPL" },
    { "Redistribution and use in source and binary forms", "BSD" },
    { "BSD", "BSD" },
    { "Permission is hereby granted", "MIT" },
    { "Permission to use, copy, modify", "HPND" },
    { "public domain", "public-domain" },
}

local function trim (text)
    return text:match ("^%s*(.*%S)") or ""
end

-- One field after the other: name in lower case, first line, the lines that continue it.
local function read_paragraphs (text)
    local paragraphs, paragraph, field = {}, nil, nil
    for line in ag.lines (text) do
        local first = line:sub (1, 1)
        if first == "" or (first == " " or first == "\t") and not line:find ("%S") then
            paragraph, field = nil, nil
        elseif first == " " or first == "\t" then
            if field then
                local continued = trim (line)
                field.lines[#field.lines + 1] = continued == "." and "" or continued
            end
        else
            local name, value = line:match ("^(%a[%w-]*):(.*)$")
            field = name and { value = trim (value), lines = {} }
            if name then
                if not paragraph then
                    paragraph = {}
                    paragraphs[#paragraphs + 1] = paragraph
                end
                paragraph[name:lower ()] = field
            end
        end
    end
    return paragraphs
end

-- The names in an expression such as "GPL-2+ or MIT, and Zlib".
function copyright.names (expression)
    local names = {}
    local list = (" " .. expression .. " "):gsub ("%s+and/or%s+", ","):gsub ("%s+or%s+", ",")
        :gsub ("%s+and%s+", ","):gsub ("|", ",")
    for name in list:gmatch ("[^,]+") do
        name = trim (name):gsub ("^and%s+", ""):gsub ("^or%s+", "")
        if name ~= "" then
            names[#names + 1] = name
        end
    end
    return names
end

-- Every path below the common licences that the text points to: name, and the line it stands in.
local function read_references (text)
    local references, at = {}, 1
    while true do
        local start, stop = text:find (directory, at, true)
        if not start then
            return references
        end
        local name = text:match ("^[%w.+-]*", stop + 1):gsub ("[.-]+$", "")
        local from = text:sub (start > 200 and start - 200 or 1, start - 1):match ("[^\n]*$")
        local rest = text:sub (start, stop + 200):match ("^[^\n]*")
        references[#references + 1] = { name = name, text = trim (from .. rest) }
        at = stop + 1
    end
end

-- { machine, claims = { { names, expression, body, used, defined } }, references, names }:
-- used where a part of the package is put under a licence, defined where its text or grant stands.
function copyright.read (text)
    local found = { machine = text:find ("^%s*Format:") ~= nil, claims = {}, names = {} }
    found.references = read_references (text)
    if found.machine then
        for _, paragraph in ipairs (read_paragraphs (text)) do
            local licence = paragraph.license
            if licence and licence.value ~= "" then
                local body = trim (table.concat (licence.lines, "\n"))
                local used = paragraph.files ~= nil or paragraph.format ~= nil
                found.claims[#found.claims + 1] = {
                    expression = licence.value,
                    names = copyright.names (licence.value),
                    body = body,
                    used = used,
                    defined = body ~= "" or not used,
                }
            end
        end
    else
        local flat = text:gsub ("%s+", " ")
        for _, title in ipairs (titles) do
            if flat:find (title[1], 1, true) then
                found.names[title[2]] = true
            end
        end
        for _, reference in ipairs (found.references) do
            found.names[reference.name] = true
        end
    end
    for _, claim in ipairs (found.claims) do
        for _, name in ipairs (claim.names) do
            found.names[name] = true
        end
    end
    return found
end

-- The common licence that a short name stands for, or nil: GPL-2+ and GPL-2.0-or-later are GPL-2.
function copyright.common (name, known)
    name = name:lower ():gsub ("%s+with%s.*$", "")
    local bare = name:gsub ("%+$", ""):gsub ("%-or%-later$", ""):gsub ("%-only$", "")
    return known[name] or known[bare] or known[bare:gsub ("%.0$", "")] or known[bare .. ".0"]
end

-- Does the text send its reader to the common licences rather than quote one?
function copyright.refers (text)
    return text:find ("common-licenses", 1, true) ~= nil
end

return copyright
