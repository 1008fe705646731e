//  SPDX-License-Identifier: Apache-2.0
#include "common/version.h"
#include "common/forms.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

//  From the least to the greatest; what stands beside another in a row is equal to it.
static void
versions_stand_in_the_order_of_pep_440 (void **state)
{
    static const char *const rows[][3] = {
        {"0.9"},
        {"1.dev0", "1.0.0.dev0"},
        {"1.0a1.dev3"},
        {"1.0a1", "v1.0a01"},
        {"1.0a1.post1"},
        {"1.0a2"},
        {"1.0b1"},
        {"1.0rc1"},
        {"1.0rc2"},
        {"1", "1.0", "01.0.0"},
        {"1.0+abc"},
        {"1.0+abc.1"},
        {"1.0+5"},
        {"1.0.post1.dev1"},
        {"1.0.post1"},
        {"1.0.post1+1"},
        {"1.2"},
        {"1.10"},
        {"1.99999999999999999999"},
        {"1.100000000000000000000"},
        {"2020.1"},
    };
    enum { ROWS = sizeof rows / sizeof *rows };
    (void)state;
    for (int i = 0; i < ROWS; i++)
        for (int k = 0; k < ROWS; k++)
            for (int m = 0; m < 3 && rows[i][m]; m++)
                for (int n = 0; n < 3 && rows[k][n]; n++) {
                    struct ag_str a = ag_str (rows[i][m]), b = ag_str (rows[k][n]);
                    assert_true (ag_is_version (a) && ag_is_version (b));
                    int order = ag_version_cmp (a, b);
                    if ((order > 0) - (order < 0) != (i > k) - (i < k))
                        fail_msg ("%s and %s: %d", a.p, b.p, order);
                }
}

static void
a_range_holds_the_versions_that_pep_440_says (void **state)
{
    static const struct {
        const char *range, *version;
        bool fits;
    } rows[] = {
        {">=1.4,<2.0", "1.4", true},
        {">=1.4,<2.0", "1.3.9", false},
        {">=1.4,<2.0", "2.0", false},
        {" >= 1 , < 2 ", "1.99", true},
        {"<2.0", "2.0rc1", false},
        {"<2.0", "2.0.dev1", false},
        {"<2.0rc2", "2.0rc1", true},
        {"<=2.0", "2.0rc1", true},
        {">=1.0", "1.0rc1", false},
        {">1.0", "1.0.post1", false},
        {">1.0.post0", "1.0.post1", true},
        {">1.0", "1.0.1", true},
        {">1.0", "1.0+local", false},
        {">=1.0", "1.0+local", true},
        {"==1.0", "1.0.0", true},
        {"==1.0", "1.0+local", true},
        {"==1.0+a", "1.0", false},
        {"==1.0+a", "1.0+a", true},
        {"==1.4.*", "1.4", true},
        {"==1.4.*", "1.4.9rc1", true},
        {"==1.4.*", "1.40", false},
        {"==1.0.*", "1", true},
        {"!=1.4.*", "1.4.2", false},
        {"!=1.4.*", "1.5", true},
        {"!=1.4", "1.4.0", false},
        {"~=1.4.2", "1.4.9", true},
        {"~=1.4.2", "1.5", false},
        {"~=1.4.2", "1.4.1", false},
        {"~=1.4", "1.9", true},
        {"~=1.4", "2.0", false},
        {"~=1.4.5a4", "1.4.5a4", true},
        {"~=1.4.5a4", "1.4.5a3", false},
        {"~=2.2.post3", "2.3", true},
        {"~=2.2.post3", "2.2.post2", false},
        {"===1.0", "1.0", true},
        {"===1.0", "1.0.0", false},
        {"===1.0+Ab", "1.0+ab", true},
        {"<3,!=2.5,>=2", "2.5", false},
        {"<3,!=2.5,>=2", "2.6", true},
        {"==1.0a1.*", "1.0a1.post2", true},
        {"==1.0a1.*", "1.0a2", false},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (ag_version_fits (ag_str (rows[i].version), ag_str (rows[i].range)) != rows[i].fits)
            fail_msg ("%s %s", rows[i].version, rows[i].range);
}

static void
what_is_no_range_is_refused_by_its_form (void **state)
{
    static const char *const bad[] = {"",    "1.4",   ">=",    ">=1.4,", ",>=1", "~=1",   "~=1a1",
                                      "=>1", ">=1.*", "<1.0.", ">= 1 2", "== *", "latest"};
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        if (ag_is_range (ag_str (bad[i])))
            fail_msg ("%s", bad[i]);
    assert_true (ag_is_range (AG_LIT ("~=1.4")) && ag_is_range (AG_LIT ("==1.*,!= 1.5")));
}

int
main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (versions_stand_in_the_order_of_pep_440),
        cmocka_unit_test (a_range_holds_the_versions_that_pep_440_says),
        cmocka_unit_test (what_is_no_range_is_refused_by_its_form),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
