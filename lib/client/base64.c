#include "client/base64.h"

#include <openssl/evp.h>
#include <stdint.h>
#include <string.h>

#include "base/buf.h"
#include "client/trim.h"

static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

static int base64_value_of(char c)
{
    const char *at = c ? strchr(digits, c) : NULL;
    return at ? (int) (at - digits) : -1;
}

bool base64_decode(const char *text, size_t len, struct buf *out)
{
    uint32_t bits = 0;
    size_t have = 0, padding = 0;
    for (size_t i = 0; i < len; i++) {
        if (trim_is_space(text[i]))
            continue;
        int value = base64_value_of(text[i]);
        if (text[i] == '=' && padding < 2)
            padding++;
        else if (value < 0 || padding > 0)
            return false;
        bits = bits << 6 | (value < 0 ? 0 : (uint32_t) value);
        if (++have < 4)
            continue;
        char bytes[3] = { (char) (bits >> 16), (char) (bits >> 8), (char) bits };
        if (!buf_add(out, bytes, sizeof bytes - padding))
            return false;
        bits = 0;
        have = 0;
    }
    return have == 0;
}

char *base64_encode(const char *bytes, size_t len)
{
    char *text = xcalloc(len / 3 + 2, 4);
    EVP_EncodeBlock((unsigned char *) text, (const unsigned char *) bytes, (int) len);
    return text;
}
