//  SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstring>
#include <string>
#include <vector>
#include <toml++/toml.h>

//  The house's headers are C: a function may bear the name of its struct, and alignment is spelled so.
#define _Alignas alignas
#pragma GCC diagnostic ignored "-Wshadow"
extern "C" {
#include "common/toml.h"
}

struct ag_toml {
    toml::table table;
};

namespace {

struct problem {
    toml::source_position at;
    std::string text;
};

struct entry {
    const toml::key *key;
    const toml::node *node;
};

struct ag_str
borrow (std::string_view text)
{
    return {text.data(), text.size()};
}

//  The library and its destructors recurse, so depth is bounded on the text itself: open brackets plus
//  the dots of the keys that lead there. Strings and comments are skipped. A header, the lines below it
//  and the point of a number are counted loosely; the exact limit is kept where the value is written.
class depth_scan {
    const char *p, *end;
    toml::source_position at{1, 1};
    std::vector<unsigned> dots{0};
    unsigned sum = 0;

    bool ahead (const char *what, size_t n) const
    {
        return size_t (end - p) >= n && !memcmp (p, what, n);
    }

    void step (size_t n)
    {
        for (; n && p < end; n--, p++) {
            at.column = *p == '\n' ? 1 : at.column + 1;
            at.line += *p == '\n';
        }
    }

    void comment ()
    {
        while (p < end && *p != '\n')
            step (1);
    }

    //  An unterminated string ends at the end of its line, so that nothing can hide behind it.
    void string (char quote)
    {
        const char fence[] = {quote, quote, quote};
        bool many = ahead (fence, 3);
        step (many ? 3 : 1);
        while (p < end && (many ? !ahead (fence, 3) : *p != quote && *p != '\n'))
            step (quote == '"' && *p == '\\' ? 2 : 1);
        step (many ? 3 : 1);
        while (many && p < end && *p == quote)
            step (1); //  up to two quotes may stand before the fence
    }

    void forget_dots ()
    {
        sum -= dots.back();
        dots.back() = 0;
    }

    void token (char c)
    {
        if (c == '.') {
            dots.back()++;
            sum++;
        } else if (c == '[' || c == '{') {
            dots.push_back (0);
        } else if ((c == ']' || c == '}') && dots.size() > 1) {
            forget_dots();
            dots.pop_back();
        } else if (c == ',' || (c == '\n' && dots.size() == 1)) {
            forget_dots();
        }
        step (1);
    }

  public:
    explicit depth_scan (struct ag_str text) : p (text.p), end (text.p + text.n)
    {
    }

    //  True when everything is within the limit; else where() is the place.
    bool run ()
    {
        while (p < end && dots.size() + sum <= 2 * AG_DEPTH) {
            if (*p == '#')
                comment();
            else if (*p == '"' || *p == '\'')
                string (*p);
            else
                token (*p);
        }
        return p == end;
    }

    toml::source_position where () const
    {
        return at;
    }
};

toml::source_position
start (const toml::node &node)
{
    return node.source().begin;
}

//  Keys of a table in the order of the text; the library keeps them sorted by name.
std::vector<entry>
in_order (const toml::table &table)
{
    std::vector<entry> entries;
    for (auto &&[key, node] : table)
        entries.push_back ({&key, &node});
    std::stable_sort (entries.begin(), entries.end(), [] (const entry &a, const entry &b) {
        return a.key->source().begin < b.key->source().begin;
    });
    return entries;
}

void
put_float (double number, const toml::node &node, struct ag_buf *out)
{
    if (!std::isfinite (number))
        throw problem{start (node), "a number must be finite"};
    ag_put_float (out, number);
}

void put (const toml::node &node, unsigned depth, struct ag_buf *out);

void
put_table (const toml::table &table, unsigned depth, struct ag_buf *out)
{
    ag_put_map (out, uint32_t (table.size()));
    for (const entry &each : in_order (table)) {
        ag_put_text (out, borrow (each.key->str()));
        put (*each.node, depth + 1, out);
    }
}

void
put_array (const toml::array &array, unsigned depth, struct ag_buf *out)
{
    ag_put_list (out, uint32_t (array.size()));
    for (const toml::node &node : array)
        put (node, depth + 1, out);
}

void
put (const toml::node &node, unsigned depth, struct ag_buf *out)
{
    if (depth > AG_DEPTH && (node.is_table() || node.is_array()))
        throw problem{start (node), "more than 64 levels deep"};
    if (auto *table = node.as_table())
        put_table (*table, depth, out);
    else if (auto *array = node.as_array())
        put_array (*array, depth, out);
    else if (auto *text = node.as_string())
        ag_put_text (out, borrow (text->get()));
    else if (auto *integer = node.as_integer())
        ag_put_int (out, integer->get());
    else if (auto *number = node.as_floating_point())
        put_float (number->get(), node, out);
    else if (auto *boolean = node.as_boolean())
        ag_put_bool (out, boolean->get());
    else
        throw problem{start (node), "dates and times are not used here; write the text in quotes"};
}

toml::table
read (struct ag_str text)
{
    if (text.n > AG_TOML_MAX)
        throw problem{{1, 1}, "longer than 1 MiB"};
    depth_scan scan (text);
    if (!scan.run())
        throw problem{scan.where(), "more than 64 levels deep"};
    return toml::parse (std::string_view (text.p ? text.p : "", text.n));
}

const toml::node *
child (const toml::node *node, const struct ag_toml_path *step, toml::source_position &at)
{
    if (!step->key.p) {
        auto *array = node->as_array();
        const toml::node *found = array ? array->get (step->index) : nullptr;
        if (found)
            at = start (*found);
        return found;
    }
    auto *table = node->as_table();
    if (!table)
        return nullptr;
    auto found = table->find (std::string_view (step->key.p, step->key.n));
    if (found == table->end())
        return nullptr;
    at = found->first.source().begin;
    return &found->second;
}

const toml::node *
follow (const toml::table &table, const struct ag_toml_path *path, toml::source_position &at)
{
    if (!path) {
        at = {1, 1};
        return &table;
    }
    const toml::node *up = follow (table, path->up, at);
    return up ? child (up, path, at) : nullptr;
}

int
fail (struct ag_err *err, toml::source_position at, std::string_view text)
{
    return ag_fail (err, AG_E_CONFIG, "%u:%u: %.*s", unsigned (at.line), unsigned (at.column),
                    int (text.size()), text.data());
}

} // namespace

ag_toml_t *
ag_toml_new (struct ag_str text, struct ag_buf *out, struct ag_err *err)
{
    size_t before = out->n;
    try {
        auto *self = new ag_toml{read (text)};
        try {
            put_table (self->table, 1, out);
            return self;
        } catch (const problem &) {
            delete self;
            throw;
        }
    } catch (const toml::parse_error &failure) {
        fail (err, failure.source().begin, failure.description());
    } catch (const problem &refused) {
        fail (err, refused.at, refused.text);
    } catch (...) {
        assert (!"toml++ or the C++ library failed in a way that only lack of memory explains");
    }
    out->n = before;
    return nullptr;
}

void
ag_toml_destroy (ag_toml_t **self_p)
{
    delete *self_p;
    *self_p = nullptr;
}

int
ag_toml_where (const ag_toml_t *self, const struct ag_toml_path *path, unsigned *line,
               unsigned *column)
{
    toml::source_position at{};
    if (!follow (self->table, path, at))
        return -1;
    *line = at.line;
    *column = at.column;
    return 0;
}
