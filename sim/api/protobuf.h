/* Objects as some verbs of kubectl send them (`kubectl create namespace`): "k8s\0", then a message
 * that says of which kind it is and holds the object. The numbers of fields are those of
 * Kubernetes' generated.proto files, 1.36. */
#ifndef OSTLER_SIM_API_PROTOBUF_H
#define OSTLER_SIM_API_PROTOBUF_H

#include <jansson.h>
#include <stddef.h>

#include "base/err.h"

/* The object as JSON, with apiVersion and kind. What a client sends as empty is left out. NULL with
 * ERR_NOT_FOUND for a kind, or a field that is not empty, which no table here has, and with
 * ERR_INVALID for what is no such message. Bytes may be anything. New reference. */
json_t *protobuf_object(const char *bytes, size_t len, struct err *e);

#endif
