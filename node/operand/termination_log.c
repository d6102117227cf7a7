#include "node/operand/termination_log.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

void termination_log_write(const char *file, const char *text)
{
    struct stat st;
    int fd = open(file, O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (fd < 0)
        return;
    /* Best effort: the text is on standard error as well. */
    if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && ftruncate(fd, 0) == 0 &&
        write(fd, text, strlen(text)) < 0)
        fprintf(stderr, "%s cannot be written\n", file);
    close(fd);
}
