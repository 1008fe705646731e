//  SPDX-License-Identifier: Apache-2.0
#include "client/place.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

//  A folder tree DIR/a/b with DIR/a/agsup.toml, in which the test stands in DIR/a/b.
struct world {
    char dir[32];
    char *here;
};

static int
begin (void **state)
{
    struct world *self = ag_xcalloc (1, sizeof *self);
    strcpy (self->dir, "/tmp/agsup-place-XXXXXX");
    assert_non_null (mkdtemp (self->dir));
    char *make = ag_xprintf ("mkdir -p %s/a/b && touch %s/a/agsup.toml", self->dir, self->dir);
    char *stand = ag_xprintf ("%s/a/b", self->dir);
    self->here = getcwd (NULL, 0);
    unsetenv ("AGSUP_HOME");
    assert_int_equal (system (make), 0);
    assert_int_equal (chdir (stand), 0);
    free (make);
    free (stand);
    *state = self;
    return 0;
}

static int
end (void **state)
{
    struct world *self = *state;
    char *remove = ag_xprintf ("rm -rf %s", self->dir);
    assert_int_equal (chdir (self->here), 0);
    assert_int_equal (system (remove), 0);
    free (remove);
    free (self->here);
    free (self);
    return 0;
}

//  Both paths below DIR; NULL: there must be none.
static void
assert_place (const struct world *self, const struct ag_call *call, const char *config,
              const char *home)
{
    struct ag_place place;
    struct ag_err err;
    if (ag_place_find (call, &place, &err))
        fail_msg ("%s", err.text);
    const char *got[] = {place.config, place.home}, *expected[] = {config, home};
    for (int i = 0; i < 2; i++) {
        char *path = expected[i] ? ag_xprintf ("%s%s", self->dir, expected[i]) : NULL;
        if (!path)
            assert_null (got[i]);
        else
            assert_string_equal (got[i], path);
        free (path);
    }
    ag_place_fini (&place);
}

static void
the_configuration_is_found_upwards_and_the_home_stands_beside_it (void **state)
{
    assert_place (*state, &(struct ag_call){0}, "/a/agsup.toml", "/a/.agsup");
    assert_int_equal (chdir (".."), 0);
    assert_place (*state, &(struct ag_call){0}, "/a/agsup.toml", "/a/.agsup");
}

static void
where_there_is_none_there_is_no_home (void **state)
{
    struct world *self = *state;
    assert_int_equal (chdir (self->dir), 0);
    assert_place (self, &(struct ag_call){0}, NULL, NULL);
}

static void
what_is_named_goes_before_what_is_found (void **state)
{
    struct world *self = *state;
    char *file = ag_xprintf ("%s/a/agsup.toml", self->dir), *home = ag_xprintf ("%s/h", self->dir);
    assert_int_equal (chdir (self->dir), 0);
    assert_place (self, &(struct ag_call){.any.config = "a/agsup.toml"}, "/a/agsup.toml",
                  "/a/.agsup");
    assert_place (self, &(struct ag_call){.any.config = file, .any.home = "h"}, "/a/agsup.toml",
                  "/h");
    setenv ("AGSUP_HOME", home, 1);
    assert_place (self, &(struct ag_call){0}, NULL, "/h");
    assert_place (self, &(struct ag_call){.any.home = "x"}, NULL, "/x");
    setenv ("AGSUP_HOME", "", 1);
    assert_place (self, &(struct ag_call){0}, NULL, NULL);
    free (file);
    free (home);
}

//  A directory of files is a configuration too; the home stands beside it, not in it.
static void
a_directory_of_files_has_its_home_beside_it (void **state)
{
    assert_place (*state, &(struct ag_call){.any.config = "../../a"}, "/a/b/../../a",
                  "/a/b/../../.agsup");
    assert_place (*state, &(struct ag_call){.any.config = "../../a/"}, "/a/b/../../a/",
                  "/a/b/../../.agsup");
}

static void
a_configuration_that_was_named_must_be_there (void **state)
{
    (void)state;
    struct ag_place place;
    struct ag_err err;
    assert_int_equal (ag_place_find (&(struct ag_call){.any.config = "none"}, &place, &err), -1);
    assert_int_equal (err.code, AG_E_CONFIG);
    assert_non_null (strstr (err.text, "none: No such file"));
}

int
main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown (
            the_configuration_is_found_upwards_and_the_home_stands_beside_it, begin, end),
        cmocka_unit_test_setup_teardown (where_there_is_none_there_is_no_home, begin, end),
        cmocka_unit_test_setup_teardown (what_is_named_goes_before_what_is_found, begin, end),
        cmocka_unit_test_setup_teardown (a_directory_of_files_has_its_home_beside_it, begin, end),
        cmocka_unit_test_setup_teardown (a_configuration_that_was_named_must_be_there, begin, end),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
