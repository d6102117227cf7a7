/* Objects in protobuf, as some verbs of kubectl send them (`kubectl create namespace`): "k8s\0",
 * then a message with the kind and the object. Field numbers as in Kubernetes' generated.proto
 * files, 1.36. */
#ifndef OSTLER_SIM_API_PROTOBUF_H
#define OSTLER_SIM_API_PROTOBUF_H

#include <jansson.h>
#include <stddef.h>

#include "base/err.h"

/* The object as JSON, with apiVersion and kind, without empty fields. NULL and ERR_NOT_FOUND for an
 * unknown kind or an unknown field that is not empty; ERR_INVALID for an invalid message. Bytes may
 * be anything. New reference. */
json_t *protobuf_object(const char *bytes, size_t len, struct err *e);

#endif
