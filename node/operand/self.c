#include "node/operand/self.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"

int self_copy(const char *to, struct err *e)
{
    int from = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    int why = from < 0 ? errno : file_copy(AT_FDCWD, to, 0755, from);
    if (from >= 0)
        close(from);
    return why ? err_set(e, ERR_SYSTEM, "cannot copy this program to %s: %s", to, strerror(why))
               : 0;
}
