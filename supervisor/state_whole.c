//  SPDX-License-Identifier: Apache-2.0
#include "supervisor/state_index.h"

//  'o' is the kind of versions, 'O' of the same things whole.
static int
whole_kind (enum ag_entity_kind kind)
{
    return kind - 'a' + 'A';
}

void
ag_whole_put (ag_journal_t *journal, const struct ag_entity *entity)
{
    struct ag_key key;
    struct ag_buf value = {0};
    ag_key_version (&key, entity->tip.holder->index, whole_kind (entity->kind), entity->id,
                    entity->seq);
    ag_put_list (&value, 2);
    ag_put_value (&value, entity->data);
    ag_put_value (&value, entity->provenance);
    ag_batch_put (ag_journal_batch (journal), AG_VERSION, ag_key_str (&key), ag_buf_str (&value));
    ag_buf_fini (&value);
}

int
ag_whole_decode (struct ag_str value, struct ag_whole *whole)
{
    struct ag_cursor in = ag_cursor (value);
    struct ag_head list;
    return ag_next (&in, &list) || list.kind != AG_LIST || list.count != 2 ||
           ag_take (&in, &whole->data) || ag_take (&in, &whole->provenance);
}

int
ag_whole_get (ag_journal_t *journal, const struct ag_run *run, enum ag_entity_kind kind,
              struct ag_str id, uint64_t at, struct ag_buf *hold, struct ag_whole *whole,
              struct ag_err *err)
{
    struct ag_key from, prefix;
    struct ag_str key, value;
    ag_key_version (&from, run->index, whole_kind (kind), id, at);
    ag_key_tip (&prefix, run->index, whole_kind (kind), id);
    struct ag_key to = ag_key_end (&prefix);
    ag_view_t *view = ag_batch_scan (ag_journal_batch (journal), AG_VERSION, ag_key_str (&from),
                                     ag_key_str (&to));
    int rc = ag_view_next (view, &key, &value, err);
    if (rc > 0) {
        whole->seq = ~ag_key_last_number (key);
        ag_buf_clear (hold);
        ag_buf_add_str (hold, value);
        if (ag_whole_decode (ag_buf_str (hold), whole))
            rc = ag_fail (err, AG_E_CORRUPT, "what is whole of `%.*s` in run %s is unreadable",
                          AG_STR_ARG (id), run->id);
    }
    ag_view_destroy (&view);
    return rc;
}
