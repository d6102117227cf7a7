#include "base/hash.h"

#include <openssl/core_names.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <string.h>

#include "base/map.h"
#include "base/mem.h"
#include "tests/unit/support/suite.h"

static const uint64_t NO_SEED[2] = { 0 };

/* The same by OpenSSL. */
static uint64_t reference(const uint64_t seed[2], const void *bytes, size_t n)
{
    unsigned compress = 1, finalize = 3;
    size_t size = sizeof(uint64_t), len = 0;
    OSSL_PARAM params[] = { OSSL_PARAM_construct_uint(OSSL_MAC_PARAM_C_ROUNDS, &compress),
                            OSSL_PARAM_construct_uint(OSSL_MAC_PARAM_D_ROUNDS, &finalize),
                            OSSL_PARAM_construct_size_t(OSSL_MAC_PARAM_SIZE, &size),
                            OSSL_PARAM_construct_end() };
    EVP_MAC *mac = EVP_MAC_fetch(NULL, "SIPHASH", NULL);
    EVP_MAC_CTX *ctx = EVP_MAC_CTX_new(mac);
    uint64_t hash = 0;
    assert_int_equal(EVP_MAC_init(ctx, (const unsigned char *) seed, 16, params), 1);
    assert_int_equal(EVP_MAC_update(ctx, bytes, n), 1);
    assert_int_equal(EVP_MAC_final(ctx, (unsigned char *) &hash, &len, sizeof hash), 1);
    assert_int_equal(len, sizeof hash);
    EVP_MAC_CTX_free(ctx);
    EVP_MAC_free(mac);
    return hash;
}

static void hashes_are_those_of_openssl_s_siphash(void **state)
{
    (void) state;
    static const uint64_t seeds[][2] = {
        { 0, 0 }, { UINT64_C(0x0706050403020100), UINT64_C(0x0f0e0d0c0b0a0908) }, { UINT64_MAX, 1 }
    };
    unsigned char bytes[70];
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (unsigned char) (i * 37 + 250);
    for (size_t i = 0; i < ARRAY_LEN(seeds); i++) {
        hash_set_seed(seeds[i]);
        for (size_t n = 0; n <= sizeof bytes; n++)
            assert_int_equal(hash_bytes(bytes, n), reference(seeds[i], bytes, n));
    }
    hash_set_seed(NO_SEED);
}

enum { NAMES = 64, PLACES = 1 << 15, TRIES = 1 << 22 };

static size_t place_of(const char *name)
{
    return hash_bytes(name, strlen(name)) % PLACES;
}

/* How many of the names share a place with the first one. */
static size_t in_one_place(char names[NAMES][16])
{
    size_t together = 0;
    for (size_t i = 1; i < NAMES; i++)
        together += place_of(names[i]) == place_of(names[0]);
    return together;
}

static void names_that_meet_under_one_seed_do_not_under_another(void **state)
{
    (void) state;
    char names[NAMES][16];
    size_t found = 0;
    for (int i = 0; found < NAMES && i < TRIES; i++) {
        snprintf(names[found], sizeof names[found], "pod-%d", i);
        found += place_of(names[found]) == 0;
    }
    assert_int_equal(found, NAMES);
    assert_int_equal(in_one_place(names), NAMES - 1);
    hash_set_seed((const uint64_t[2]){ 1, 2 });
    assert_in_range(in_one_place(names), 0, 2);
    hash_set_seed(NO_SEED);
}

static void a_map_works_under_any_seed(void **state)
{
    (void) state;
    hash_set_seed((const uint64_t[2]){ UINT64_C(0x123456789abcdef0), 42 });
    char names[NAMES][16];
    struct map m = { 0 };
    for (size_t i = 0; i < NAMES; i++) {
        snprintf(names[i], sizeof names[i], "gpu-%zu", i);
        map_put(&m, names[i], names[i]);
    }
    for (size_t i = 0; i < NAMES; i++)
        assert_ptr_equal(map_get(&m, names[i]), names[i]);
    map_clear(&m);
    hash_set_seed(NO_SEED);
}

int main(void)
{
    struct suite s = { 0 };
    suite_add(&s, "hashes are those of OpenSSL's SipHash-1-3",
              hashes_are_those_of_openssl_s_siphash, NULL);
    suite_add(&s, "names that meet under one seed do not meet under another",
              names_that_meet_under_one_seed_do_not_under_another, NULL);
    suite_add(&s, "a map works under any seed", a_map_works_under_any_seed, NULL);
    return suite_run(&s, "hash");
}
