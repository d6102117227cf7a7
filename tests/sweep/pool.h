/* Memory of JSON values in a sweep: see pool.c. */
#ifndef OSTLER_TESTS_SWEEP_POOL_H
#define OSTLER_TESTS_SWEEP_POOL_H

/* From now on jansson takes memory from the pool: to be called before it has any. Not under the
 * address sanitizer, which sees misuse of memory from malloc() only. */
void pool_hook_jansson(void);

#endif
