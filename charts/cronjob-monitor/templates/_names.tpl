{{- define "cronjob-monitor.fullname" -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 50 | trimSuffix "-" -}}
{{- else if contains .Chart.Name .Release.Name -}}
{{- .Release.Name | trunc 50 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name .Chart.Name | trunc 50 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{/* Names of what has no namespace hold ours, so that two installations do not meet. */}}
{{- define "cronjob-monitor.clusterName" -}}
{{- printf "%s-%s" .Release.Namespace (include "cronjob-monitor.fullname" .) -}}
{{- end -}}

{{- define "cronjob-monitor.labels" -}}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
app.kubernetes.io/name: cronjob-monitor
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/part-of: cronjob-monitor
{{- with .Values.commonLabels }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{/* Labels by which pods are found. The controller looks for its peers by name and component: neither is a value. */}}
{{- define "cronjob-monitor.selector" -}}
app.kubernetes.io/name: cronjob-monitor
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .component }}
{{- end -}}

{{- define "cronjob-monitor.image" -}}
{{- if .Values.image.digest -}}
{{ .Values.image.repository }}@{{ .Values.image.digest }}
{{- else -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end -}}
{{- end -}}

{{/* Service account of a component; standalone has the controller's. */}}
{{- define "cronjob-monitor.account" -}}
{{- $component := ternary "apiserver" "controller" (eq .component "apiserver") -}}
{{- $values := (index .root.Values $component).serviceAccount -}}
{{- if $values.create -}}
{{- $values.name | default (printf "%s-%s" (include "cronjob-monitor.fullname" .root) .component) -}}
{{- else -}}
{{- $values.name | default "default" -}}
{{- end -}}
{{- end -}}

{{- define "cronjob-monitor.components" -}}
{{- ternary "controller apiserver" "standalone" (eq .Values.mode "split") -}}
{{- end -}}

{{/* The component that serves the user interface and the API. */}}
{{- define "cronjob-monitor.front" -}}
{{- ternary "apiserver" "standalone" (eq .Values.mode "split") -}}
{{- end -}}

{{- define "cronjob-monitor.replicas" -}}
{{- $given := (index .root.Values (ternary "apiserver" "controller" (eq .component "apiserver"))).replicas -}}
{{- if kindIs "invalid" $given -}}
{{- ternary 2 1 (eq .root.Values.mode "split") -}}
{{- else -}}
{{- int $given -}}
{{- end -}}
{{- end -}}

{{- define "cronjob-monitor.claim" -}}
{{- .Values.persistence.existingClaim | default (printf "%s-data" (include "cronjob-monitor.fullname" .)) -}}
{{- end -}}
