{{/* Names are fixed: a cluster has one Ostler, and a second installation is refused where names meet. */}}
{{- define "ostler.name" -}}
ostler
{{- end }}

{{- define "ostler.selectorLabels" -}}
app.kubernetes.io/name: ostler
app.kubernetes.io/component: operator
{{- end }}

{{- define "ostler.labels" -}}
{{ include "ostler.selectorLabels" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version | replace "+" "_" }}
{{- end }}

{{- define "ostler.image" -}}
{{- if .Values.image.digest -}}
{{ .Values.image.repository }}@{{ .Values.image.digest }}
{{- else -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end -}}
{{- end }}
