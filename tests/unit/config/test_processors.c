#include "load.h"

TestSuite(processors, .fini = forget);

#define AGAIN                                                                                      \
    REQUIRED "post.processors=again\n"                                                             \
             "again.type=io.debezium.processors.reselect.ReselectColumnsPostProcessor\n"

Test(processors, are_none_where_none_is_named)
{
    expect_loads(REQUIRED "post.processors=\n");
    cr_expect_not(config->reselect.is_enabled);
}

Test(processors, read_columns_again_as_debezium_does)
{
    expect_loads(AGAIN);
    cr_expect(config->reselect.is_enabled);
    cr_expect(config->reselect.unavailable_values);
    cr_expect(config->reselect.null_values);
    cr_expect_not(config->reselect.fails);
    expect_loads(AGAIN "again.reselect.columns.include.list=public.t:a,public.t:b\n"
                       "again.reselect.unavailable.values=FALSE\nagain.reselect.null.values=false\n"
                       "again.reselect.use.event.key=true\nagain.reselect.cache.enabled=true\n"
                       "again.reselect.error.handling.mode=FAIL\n");
    expect_text(config->reselect.include, "public.t:a,public.t:b");
    expect_text(config->reselect.exclude, NULL);
    cr_expect_not(config->reselect.unavailable_values || config->reselect.null_values);
    cr_expect(config->reselect.fails);
}

Test(processors, refuse_what_they_do_not_know)
{
    expect_refused(REQUIRED "post.processors=x\n",
                   "3: post.processors=x: is not supported; there is "
                   "io.debezium.processors.reselect.ReselectColumnsPostProcessor");
    expect_refused(REQUIRED "post.processors=x\nx.type=com.example.Mine\nx.speed=1\n",
                   "4: x.type=com.example.Mine: is not supported; there is "
                   "io.debezium.processors.reselect.ReselectColumnsPostProcessor");
    expect_refused(AGAIN "again.reselect.columns.inclde.list=x\n",
                   "5: again.reselect.columns.inclde.list: is no option of "
                   "io.debezium.processors.reselect.ReselectColumnsPostProcessor");
    cr_expect_not(load(AGAIN "again.reselect.null.values=maybe\n"));
    cr_expect_not(load(AGAIN "again.reselect.error.handling.mode=cry\n"));
    cr_expect_not(load(AGAIN "again.reselect.columns.include.list=(\n"));
    cr_expect_not(load(AGAIN "again.reselect.columns.include.list=a\n"
                             "again.reselect.columns.exclude.list=b\n"));
    cr_expect_not_null(strstr(problem(), "only one of them may be given"));
}
