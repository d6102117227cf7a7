#include "base/cri_socket.h"

#include <string.h>

#include "base/str.h"

const char *cri_socket(const char *endpoint)
{
    static const char scheme[] = "unix://", link[] = "/var";
    const char *path = endpoint && str_has_prefix(endpoint, scheme) ? endpoint + strlen(scheme)
                                                                    : endpoint;
    if (path && str_has_prefix(path, "/var/run/"))
        path += strlen(link);
    return str_eq(path, "/run/cri-dockerd.sock") ? "/run/docker.sock" : path;
}
