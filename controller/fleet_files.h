/* The files of the fleet page, those of web/, embedded when the program is built
 * (scripts/embed-web). */
#ifndef OSTLER_CONTROLLER_FLEET_FILES_H
#define OSTLER_CONTROLLER_FLEET_FILES_H

#include "serve/page.h"

extern const struct page_file fleet_files[];
extern const size_t fleet_file_count;

#endif
