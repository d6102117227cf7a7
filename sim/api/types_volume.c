/* Volumes of pods. Sources of vendors are kept as they are. */
#include "sim/api/types.h"

#include "sim/api/complete.h"

static const struct field key_to_path_fields[] = {
    FIELD("key", STRING, .fallback = ""),
    FIELD("mode", INT32 | KEEP_ZERO),
    FIELD("path", STRING, .fallback = ""),
    { 0 },
};
static const struct type type_key_to_path = { "KeyToPath", key_to_path_fields, NULL };

static const struct field config_map_volume_source_fields[] = {
    FIELD("defaultMode", INT32 | KEEP_ZERO, .fallback = "420"),
    FIELD("items", LIST_OF | STRUCT, .of = &type_key_to_path),
    FIELD("name", STRING, .fallback = ""),
    FIELD("optional", BOOL | KEEP_ZERO),
    { 0 },
};
static const struct type type_config_map_volume_source = { "ConfigMapVolumeSource", config_map_volume_source_fields, NULL };

static const struct field downward_api_volume_file_fields[] = {
    FIELD("fieldRef", STRUCT, .of = &type_object_field_selector),
    FIELD("mode", INT32 | KEEP_ZERO),
    FIELD("path", STRING, .fallback = ""),
    FIELD("resourceFieldRef", STRUCT, .of = &type_resource_field_selector),
    { 0 },
};
static const struct type type_downward_api_volume_file = { "DownwardAPIVolumeFile", downward_api_volume_file_fields, NULL };

static const struct field downward_api_volume_source_fields[] = {
    FIELD("defaultMode", INT32 | KEEP_ZERO, .fallback = "420"),
    FIELD("items", LIST_OF | STRUCT, .of = &type_downward_api_volume_file),
    { 0 },
};
static const struct type type_downward_api_volume_source = { "DownwardAPIVolumeSource", downward_api_volume_source_fields, NULL };

static const struct field empty_dir_volume_source_fields[] = {
    FIELD("medium", STRING),
    FIELD("sizeLimit", QUANTITY | KEEP_ZERO),
    { 0 },
};
static const struct type type_empty_dir_volume_source = { "EmptyDirVolumeSource", empty_dir_volume_source_fields, NULL };

static const struct field ephemeral_volume_source_fields[] = {
    FIELD("volumeClaimTemplate", FREE),
    { 0 },
};
static const struct type type_ephemeral_volume_source = { "EphemeralVolumeSource", ephemeral_volume_source_fields, NULL };

static const struct field host_path_volume_source_fields[] = {
    FIELD("path", STRING, .fallback = ""),
    FIELD("type", STRING | KEEP_ZERO, .fallback = ""),
    { 0 },
};
static const struct type type_host_path_volume_source = { "HostPathVolumeSource", host_path_volume_source_fields, NULL };

static const struct field image_volume_source_fields[] = {
    FIELD("pullPolicy", STRING),
    FIELD("reference", STRING),
    { 0 },
};
static const struct type type_image_volume_source = { "ImageVolumeSource", image_volume_source_fields, NULL };

static const struct field persistent_volume_claim_volume_source_fields[] = {
    FIELD("claimName", STRING, .fallback = ""),
    FIELD("readOnly", BOOL),
    { 0 },
};
static const struct type type_persistent_volume_claim_volume_source = { "PersistentVolumeClaimVolumeSource",
                                                                        persistent_volume_claim_volume_source_fields, NULL };

static const struct field config_map_projection_fields[] = {
    FIELD("items", LIST_OF | STRUCT, .of = &type_key_to_path),
    FIELD("name", STRING, .fallback = ""),
    FIELD("optional", BOOL | KEEP_ZERO),
    { 0 },
};
static const struct type type_config_map_projection = { "ConfigMapProjection", config_map_projection_fields, NULL };

static const struct field downward_api_projection_fields[] = {
    FIELD("items", LIST_OF | STRUCT, .of = &type_downward_api_volume_file),
    { 0 },
};
static const struct type type_downward_api_projection = { "DownwardAPIProjection", downward_api_projection_fields, NULL };

static const struct field secret_projection_fields[] = {
    FIELD("items", LIST_OF | STRUCT, .of = &type_key_to_path),
    FIELD("name", STRING, .fallback = ""),
    FIELD("optional", BOOL | KEEP_ZERO),
    { 0 },
};
static const struct type type_secret_projection = { "SecretProjection", secret_projection_fields, NULL };

static const struct field service_account_token_projection_fields[] = {
    FIELD("audience", STRING),
    FIELD("expirationSeconds", INT64 | KEEP_ZERO, .fallback = "3600"),
    FIELD("path", STRING, .fallback = ""),
    { 0 },
};
static const struct type type_service_account_token_projection = { "ServiceAccountTokenProjection",
                                                                   service_account_token_projection_fields, NULL };

static const struct field volume_projection_fields[] = {
    FIELD("clusterTrustBundle", FREE),
    FIELD("configMap", STRUCT, .of = &type_config_map_projection),
    FIELD("downwardAPI", STRUCT, .of = &type_downward_api_projection),
    FIELD("podCertificate", FREE),
    FIELD("secret", STRUCT, .of = &type_secret_projection),
    FIELD("serviceAccountToken", STRUCT, .of = &type_service_account_token_projection),
    { 0 },
};
static const struct type type_volume_projection = { "VolumeProjection", volume_projection_fields, NULL };

static const struct field projected_volume_source_fields[] = {
    FIELD("defaultMode", INT32 | KEEP_ZERO, .fallback = "420"),
    FIELD("sources", LIST_OF | STRUCT, .of = &type_volume_projection),
    { 0 },
};
static const struct type type_projected_volume_source = { "ProjectedVolumeSource", projected_volume_source_fields, NULL };

static const struct field secret_volume_source_fields[] = {
    FIELD("defaultMode", INT32 | KEEP_ZERO, .fallback = "420"),
    FIELD("items", LIST_OF | STRUCT, .of = &type_key_to_path),
    FIELD("optional", BOOL | KEEP_ZERO),
    FIELD("secretName", STRING),
    { 0 },
};
static const struct type type_secret_volume_source = { "SecretVolumeSource", secret_volume_source_fields, NULL };

static const struct field volume_fields[] = {
    FIELD("awsElasticBlockStore", FREE),
    FIELD("azureDisk", FREE),
    FIELD("azureFile", FREE),
    FIELD("cephfs", FREE),
    FIELD("cinder", FREE),
    FIELD("configMap", STRUCT, .of = &type_config_map_volume_source),
    FIELD("csi", FREE),
    FIELD("downwardAPI", STRUCT, .of = &type_downward_api_volume_source),
    FIELD("emptyDir", STRUCT, .of = &type_empty_dir_volume_source),
    FIELD("ephemeral", STRUCT, .of = &type_ephemeral_volume_source),
    FIELD("fc", FREE),
    FIELD("flexVolume", FREE),
    FIELD("flocker", FREE),
    FIELD("gcePersistentDisk", FREE),
    FIELD("gitRepo", FREE),
    FIELD("glusterfs", FREE),
    FIELD("hostPath", STRUCT, .of = &type_host_path_volume_source),
    FIELD("image", STRUCT, .of = &type_image_volume_source),
    FIELD("iscsi", FREE),
    FIELD("name", STRING, .fallback = ""),
    FIELD("nfs", FREE),
    FIELD("persistentVolumeClaim", STRUCT, .of = &type_persistent_volume_claim_volume_source),
    FIELD("photonPersistentDisk", FREE),
    FIELD("portworxVolume", FREE),
    FIELD("projected", STRUCT, .of = &type_projected_volume_source),
    FIELD("quobyte", FREE),
    FIELD("rbd", FREE),
    FIELD("scaleIO", FREE),
    FIELD("secret", STRUCT, .of = &type_secret_volume_source),
    FIELD("storageos", FREE),
    FIELD("vsphereVolume", FREE),
    { 0 },
};
const struct type type_volume = { "Volume", volume_fields, complete_volume };
