/* Any kubeconfig: no crash, and either a whole configuration or one sentence. */
#include <assert.h>
#include <stdint.h>
#include <string.h>

#include "base/json.h"
#include "base/yaml.h"
#include "client/certificate.h"
#include "client/kubeconfig.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    CLEANUP_ERR struct err e = { 0 };
    CLEANUP_JSON json_t *documents = yaml_parse((const char *) data, size, NULL, &e);
    if (!documents)
        return 0;
    /* every document stands for a file of the list */
    struct kubeconfig_file files[4];
    size_t count = 0;
    for (size_t i = 0; i < json_array_size(documents) && i < 4; i++)
        files[count++] = (struct kubeconfig_file){ "/nonexistent/config",
                                                   json_array_get(documents, i) };
    if (count == 0)
        return 0;
    struct config c = { 0 };
    if (kubeconfig_decode(files, count, NULL, &c, &e) < 0) {
        assert(*err_msg(&e) && !c.server.url);
        return 0;
    }
    assert(c.server.url && c.server.host && c.server.base_path && c.namespace && c.description);
    assert(c.server.tls || !config_token(&c));
    assert(!config_token(&c) || !strpbrk(config_token(&c), "\r\n"));
    const struct material *certificate = &c.materials[MATERIAL_CERTIFICATE];
    if (certificate->bytes)
        assert(certificate_expiry(certificate->bytes, certificate->len) >= -1);
    config_clear(&c);
    return 0;
}
