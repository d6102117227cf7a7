/* Any NO_PROXY: a server is in it or not, whatever else it names, and each entry counts for itself.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "client/proxy.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const servers[] = { "https://10.1.2.3:6443", "https://[fd00::1]:6443",
                                           "https://api.example.com" };
    CLEANUP_FREE char *list = xstrndup((const char *) data, size);
    for (size_t i = 0; i < sizeof servers / sizeof *servers; i++) {
        struct endpoint server;
        if (endpoint_parse(servers[i], &server, NULL) < 0)
            abort();
        bool whole = proxy_is_excepted(list, &server), parts = false;
        CLEANUP_FREE char *copy = xstrdup(list);
        char *rest = copy, *entry;
        while ((entry = strsep(&rest, ",")))
            parts |= proxy_is_excepted(entry, &server);
        if (whole != parts)
            abort();
        endpoint_clear(&server);
    }
    return 0;
}
