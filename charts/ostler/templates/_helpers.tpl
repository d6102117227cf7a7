{{/* Names are fixed: a cluster has one Ostler, and a second installation fails because of equal names. */}}
{{- define "ostler.name" -}}
ostler
{{- end }}

{{- define "ostler.selectorLabels" -}}
app.kubernetes.io/name: ostler
app.kubernetes.io/component: operator
{{- end }}

{{- define "ostler.labels" -}}
{{ include "ostler.selectorLabels" . }}
app.kubernetes.io/instance: {{ .Release.Name | quote }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version | replace "+" "_" }}
{{- end }}

{{/* Common labels and annotations of all objects. */}}
{{- define "ostler.metadata" -}}
{{- include "ostler.metadataWith" (list . dict dict) }}
{{- end }}

{{/* The same with additional ones of this object: root, labels, annotations. The chart's own override those of the values. */}}
{{- define "ostler.metadataWith" -}}
{{- $root := index . 0 }}
{{- $labels := mergeOverwrite (dict) $root.Values.commonLabels (include "ostler.labels" $root | fromYaml) (index . 1) }}
{{- $annotations := mergeOverwrite (dict) $root.Values.commonAnnotations (index . 2) -}}
labels:
  {{- toYaml $labels | nindent 2 }}
{{- with $annotations }}
annotations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{/* Whether a cluster can be queried. helm template and Argo CD have none. */}}
{{- define "ostler.asksCluster" -}}
{{- if lookup "v1" "Namespace" "" "kube-system" }}true{{ end }}
{{- end }}

{{- define "ostler.image" -}}
{{- if .Values.image.digest -}}
{{ .Values.image.repository }}@{{ .Values.image.digest }}
{{- else -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end -}}
{{- end }}

{{/* Allowed image prefixes of operands, as a list: those of the values, or the program's defaults, which tests/chart compares. */}}
{{- define "ostler.imagePrefixes" -}}
{{- .Values.allowedImagePrefixes | default (list "nvcr.io/nvidia" "gcr.io/gke-release" "gke.gcr.io") | toJson }}
{{- end }}

{{/* Allowed directories for the toolkit, as a list: those of the values, or the program's defaults, which tests/chart compares. */}}
{{- define "ostler.installDirs" -}}
{{- .Values.allowedInstallDirs | default (list "/usr/local/nvidia" "/opt/nvidia") | toJson }}
{{- end }}

{{/* Ostler's user name at the API server. */}}
{{- define "ostler.user" -}}
system:serviceaccount:{{ .Release.Namespace }}:{{ include "ostler.name" . }}
{{- end }}

{{/* What the pods of the operator and of its hooks have in common. They meet the Pod Security Standard `restricted`. */}}
{{- define "ostler.podSecurity" -}}
runAsNonRoot: true
runAsUser: 65532
runAsGroup: 65532
seccompProfile:
  type: {{ .Values.seccompProfile.type }}
  {{- if eq .Values.seccompProfile.type "Localhost" }}
  localhostProfile: {{ .Values.seccompProfile.localhostProfile |
      required "seccompProfile.localhostProfile: a profile of type Localhost needs its file" | quote }}
  {{- end }}
{{- end }}

{{- define "ostler.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities:
  drop: [ALL]
{{- end }}

{{- define "ostler.placement" -}}
enableServiceLinks: false
{{- if kindIs "bool" .Values.hostUsers }}
hostUsers: {{ .Values.hostUsers }}
{{- end }}
{{- with .Values.imagePullSecrets }}
imagePullSecrets:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- /* Ostler and its hooks tolerate Ostler's own taints, for clusters in which Ostler manages every node. The taint of GPU nodes may have
another key; the chart does not know the key of a policy that it does not create. */}}
{{- $own := list "nvidia.com/gpu" "ostler.dev/gpu-not-ready" "ostler.dev/unhealthy" "ostler.dev/upgrade" }}
{{- if .Values.policy.create }}
{{- range $path := list (list "nodes" "taint" "key") (list "rollout" "taintKey") }}
{{- $found := $.Values.policy.spec }}
{{- range $path }}{{ $found = kindIs "map" $found | ternary $found dict | dig . "" }}{{ end }}
{{- if and $found (kindIs "string" $found) }}{{ $own = append $own $found }}{{ end }}
{{- end }}
{{- $pools := kindIs "map" .Values.policy.spec | ternary .Values.policy.spec dict | dig "pools" list }}
{{- range kindIs "slice" $pools | ternary $pools list }}
{{- $found := . }}
{{- range list "taint" "key" }}{{ $found = kindIs "map" $found | ternary $found dict | dig . "" }}{{ end }}
{{- if and $found (kindIs "string" $found) }}{{ $own = append $own $found }}{{ end }}
{{- end }}
{{- end }}
{{- $tolerations := list }}
{{- range concat $own .Values.admissionPolicy.startupTaintKeys | uniq | sortAlpha }}
{{- $tolerations = append $tolerations (dict "key" . "operator" "Exists" "effect" "NoSchedule") }}
{{- end }}
tolerations:
  {{- concat $tolerations (.Values.tolerations | default list) | uniq | toYaml | nindent 2 }}
{{- $affinity := deepCopy (.Values.affinity | default dict) }}
{{- if .Values.requiredNodes }}
{{- /* Any term can select a node, so each term gets the requirements. */}}
{{- $nodes := get $affinity "nodeAffinity" | default dict }}
{{- $required := get $nodes "requiredDuringSchedulingIgnoredDuringExecution" | default dict }}
{{- $terms := list }}
{{- range get $required "nodeSelectorTerms" | default (list dict) }}
{{- $more := concat (get . "matchExpressions" | default list) $.Values.requiredNodes }}
{{- $terms = append $terms (mergeOverwrite (deepCopy .) (dict "matchExpressions" $more)) }}
{{- end }}
{{- $_ := set $nodes "requiredDuringSchedulingIgnoredDuringExecution" (dict "nodeSelectorTerms" $terms) }}
{{- $_ := set $affinity "nodeAffinity" $nodes }}
{{- end }}
{{- with $affinity }}
affinity:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{/* Metadata of a hook's objects, which are deleted after the hook: root, component, events, weight. A failed Job stays, for its log. */}}
{{- define "ostler.hookMetadata" -}}
{{- $labels := dict "app.kubernetes.io/component" (index . 1) }}
{{- $annotations := dict
    "helm.sh/hook" (index . 2)
    "helm.sh/hook-weight" (index . 3)
    "helm.sh/hook-delete-policy" "before-hook-creation,hook-succeeded" }}
{{- include "ostler.metadataWith" (list (index . 0) $labels $annotations) }}
{{- end }}

{{/* A Job of a hook: root, component, events, name, account, deadline in seconds, arguments; then volumes and mounts, if any. */}}
{{- define "ostler.hookJob" -}}
{{- $root := index . 0 }}
{{- $component := index . 1 -}}
apiVersion: batch/v1
kind: Job
metadata:
  name: {{ index . 3 }}
  namespace: {{ $root.Release.Namespace | quote }}
  {{- include "ostler.metadataWith" (list $root (dict "app.kubernetes.io/component" $component) (dict
      "helm.sh/hook" (index . 2)
      "helm.sh/hook-weight" "0"
      "helm.sh/hook-delete-policy" "before-hook-creation,hook-succeeded"
      "helm.sh/hook-output-log-policy" "hook-failed")) | nindent 2 }}
spec:
  # The program itself retries; it reports a final failure once.
  backoffLimit: 0
  activeDeadlineSeconds: {{ index . 5 }}
  template:
    metadata:
      labels:
        {{- mergeOverwrite (dict) $root.Values.commonLabels (include "ostler.labels" $root | fromYaml)
            (dict "app.kubernetes.io/component" $component) | toYaml | nindent 8 }}
      {{- with $root.Values.commonAnnotations }}
      annotations:
        {{- toYaml . | nindent 8 }}
      {{- end }}
    spec:
      serviceAccountName: {{ index . 4 }}
      automountServiceAccountToken: true
      restartPolicy: Never
      terminationGracePeriodSeconds: {{ $root.Values.terminationGracePeriodSeconds }}
      securityContext:
        {{- include "ostler.podSecurity" $root | nindent 8 }}
      {{- include "ostler.placement" $root | nindent 6 }}
      {{- /* Hooks before an installation run before the quota exists, without which some clouds admit no critical pod. */}}
      {{- with $root.Values.priorityClassName }}
      {{- if ne $component "crds" }}
      priorityClassName: {{ . | quote }}
      {{- end }}
      {{- end }}
      containers:
        - name: {{ $component }}
          image: {{ include "ostler.image" $root | quote }}
          imagePullPolicy: {{ $root.Values.image.pullPolicy }}
          args:
            {{- toYaml (index . 6) | nindent 12 }}
          resources:
            {{- toYaml $root.Values.resources | nindent 12 }}
          terminationMessagePolicy: FallbackToLogsOnError
          securityContext:
            {{- include "ostler.containerSecurity" $root | nindent 12 }}
          {{- with index . 7 }}
          volumeMounts:
            {{- toYaml .mounts | nindent 12 }}
          {{- end }}
      {{- with index . 7 }}
      volumes:
        {{- toYaml .volumes | nindent 8 }}
      {{- end }}
{{- end }}

{{/* A duration such as 1h30m in whole seconds, rounded down. */}}
{{- define "ostler.seconds" -}}
{{- $seconds := 0.0 }}
{{- range regexFindAll "[0-9.]+(ms|s|m|h)" . -1 }}
{{- $number := regexFind "[0-9.]+" . | float64 }}
{{- $seconds = addf $seconds (mulf $number (get (dict "ms" 0.001 "s" 1.0 "m" 60.0 "h" 3600.0) (regexFind "[a-z]+" .))) }}
{{- end }}
{{- floor $seconds | int }}
{{- end }}

{{/* A quantity of memory such as 64Mi in bytes. A plain number in a values file is not a string. */}}
{{- define "ostler.bytes" -}}
{{- $unit := kindIs "string" . | ternary . "" | toString | regexFind "[A-Za-z]+$" }}
{{- $units := dict "" 1 "m" 0.001 "k" 1e3 "M" 1e6 "G" 1e9 "T" 1e12 "Ki" 1024 "Mi" 1048576 "Gi" 1073741824 "Ti" 1099511627776 }}
{{- mulf (kindIs "string" . | ternary (toString . | trimSuffix $unit) . | float64) (get $units $unit) | printf "%.0f" }}
{{- end }}

{{/* For CEL: a regular expression that matches the images that operands may run (name, tag or digest), including Ostler's own. */}}
{{- define "ostler.imagePattern" -}}
{{- $prefixes := list }}
{{- range include "ostler.imagePrefixes" . | fromJsonArray }}{{ $prefixes = append $prefixes (trimSuffix "/" . | regexQuoteMeta) }}{{ end }}
{{- printf "^((%s)(/.*|[:@][^/]*)?|%s)$" (join "|" $prefixes) (include "ostler.ownImagePattern" .) | toJson }}
{{- end }}

{{/* Ostler's own image in any version: during an upgrade there are two. */}}
{{- define "ostler.ownImagePattern" -}}
{{ regexQuoteMeta .Values.image.repository }}([:@][^/]*)?
{{- end }}

{{/* For CEL: images that reconcilers/manifests names and no policy can change. Google's installer is on the disk of its nodes, and the container that waits
after it is from Google's registry; tests/chart compares them. */}}
{{- define "ostler.fixedImages" -}}
["cos-nvidia-installer:fixed", "gke.gcr.io/pause:3.8"]
{{- end }}

{{/* For CEL: allowed variables of containers: plain values and fields of their pod, and those sources in envFrom that the given expression about c,
the container, and f, the source, allows. A variable from a Secret could expose the Secret in the container's output. */}}
{{- define "ostler.plainVariables" -}}
variables.containers.all(c, c.?envFrom.orValue([]).all(f, {{ . }}) &&
c.?env.orValue([]).all(e, !has(e.valueFrom) || has(e.valueFrom.fieldRef)))
{{- end }}

{{/* For CEL: allowed sources of variables for the driver's container: the Secrets (driver.secretEnv) that allowedSettings names. */}}
{{- define "ostler.driverSecrets" -}}
{{- $names := list }}
{{- range .Values.allowedSettings }}
{{- if or (eq . "*") (hasPrefix "secretEnv=" .) }}
{{- $name := trimPrefix "secretEnv=" . }}
{{- $names = append $names (printf "%s%s" (trimSuffix "*" $name | regexQuoteMeta) (ternary ".*" "" (hasSuffix "*" $name))) }}
{{- end }}
{{- end }}
{{- if $names -}}
c.name in ["driver", "gdrcopy"] && has(f.secretRef) && f.secretRef.?name.orValue("").matches({{ printf "^(%s)$" (join "|" $names) | toJson }})
{{- else -}}
false
{{- end }}
{{- end }}

{{/* The binding that puts a ValidatingAdmissionPolicy into effect: root, name. */}}
{{- define "ostler.admissionBinding" -}}
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata:
  name: {{ index . 1 }}
  {{- include "ostler.metadata" (index . 0) | nindent 2 }}
spec:
  policyName: {{ index . 1 }}
  validationActions: [Deny]
{{- end }}
