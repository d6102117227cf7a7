/* The body of a request: JSON, YAML or protobuf, by its media type. */
#ifndef OSTLER_SIM_API_BODY_H
#define OSTLER_SIM_API_BODY_H

#include <jansson.h>
#include <stdbool.h>

#include "sim/api/api.h"
#include "sim/api/write.h"

/* Most bytes of a body. */
enum { BODY_MAX = 3 << 20 };

/* The media type without its parameters equals this one. NULL and "" stand for JSON. */
bool body_is_of(const struct api_call *call, const char *media_type);
/* 413 for one that is too long. */
int body_check_size(const struct api_call *call, struct refusal *r);
/* An object of this kind (NULL: unknown); NULL and 400 or 415 if it is invalid. `strict`: a
 * duplicate key is an error. New reference. */
json_t *body_object(const struct api_call *call, const struct kind *k, bool strict,
                    struct refusal *r);
/* A patch as JSON; a JSON patch must be a list, any other an object. Null is an empty one, but for
 * a merge patch. New reference. */
json_t *body_patch(const struct api_call *call, enum patch_type type, struct refusal *r);
/* The intent of a server-side apply, YAML or JSON. New reference. */
json_t *body_intent(const struct api_call *call, struct refusal *r);

#endif
