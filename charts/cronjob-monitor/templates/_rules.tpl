{{/* Rights in the namespaces that are watched. Standalone has both lists. */}}
{{- define "cronjob-monitor.namespacedRules" -}}
{{- if ne .component "apiserver" }}
- apiGroups: [batch]
  resources: [cronjobs, jobs]
  verbs: [get, list, watch]
{{- if ne (get (get .root.Values.config "gitops" | default dict) "mirror" | default "off" | toString) "off" }}
- apiGroups: [batch]
  resources: [cronjobs]
  verbs: [patch]
{{- end }}
- apiGroups: [""]
  resources: [pods]
  verbs: [get, list, watch]
- apiGroups: [""]
  resources: [pods/log]
  verbs: [get]
- apiGroups: [""]
  resources: [events]
  verbs: [list{{ if ne (get (get .root.Values.config "owners" | default dict) "events" | toString) "false" }}, create{{ end }}]
- apiGroups: [cronjob-monitor.io]
  resources: [cronjobmonitors]
  verbs: [get, list, watch]
- apiGroups: [cronjob-monitor.io]
  resources: [cronjobmonitors/status]
  verbs: [patch]
{{- end }}
{{- if eq .component "apiserver" }}
- apiGroups: [batch]
  resources: [cronjobs, jobs]
  verbs: [get, list]
- apiGroups: [""]
  resources: [pods]
  verbs: [get, list]
- apiGroups: [""]
  resources: [pods/log]
  verbs: [get]
{{- end }}
{{- if and (ne .component "controller") (include "cronjob-monitor.writes" .root) }}
- apiGroups: [batch]
  resources: [cronjobs]
  verbs: [patch]
- apiGroups: [batch]
  resources: [jobs]
  verbs: [create]
{{- end }}
{{- end -}}

{{/* Rights on what has no namespace. */}}
{{- define "cronjob-monitor.clusterRules" -}}
{{- if ne .component "apiserver" }}
- apiGroups: [""]
  resources: [namespaces]
  verbs: [get, list, watch]
- apiGroups: [cronjob-monitor.io]
  resources: [alertchannels]
  verbs: [get, list, watch]
- apiGroups: [cronjob-monitor.io]
  resources: [alertchannels/status]
  verbs: [patch]
{{- end }}
{{- if include "cronjob-monitor.reviews" . }}
- apiGroups: [authentication.k8s.io]
  resources: [tokenreviews]
  verbs: [create]
- apiGroups: [authorization.k8s.io]
  resources: [subjectaccessreviews]
  verbs: [create]
{{- end }}
{{- end -}}

{{/* `true` or empty. */}}
{{- define "cronjob-monitor.writes" -}}
{{- $readOnly := get (get .Values.config "api" | default dict) "read-only" -}}
{{- if and .Values.ui.writes (ne (toString $readOnly) "true") }}true{{ end -}}
{{- end -}}

{{- define "cronjob-monitor.watched" -}}
{{- get (get .Values.config "cluster" | default dict) "watch-namespaces" | default list | join " " -}}
{{- end -}}

{{/* A role or cluster role with its binding: root, component, name, namespace (empty: of the cluster), rules. */}}
{{- define "cronjob-monitor.grant" -}}
{{- $kind := ternary "Role" "ClusterRole" (ne .namespace "") -}}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: {{ $kind }}
metadata:
  name: {{ .name }}
  {{- with .namespace }}
  namespace: {{ . }}
  {{- end }}
  labels:
    {{- include "cronjob-monitor.labels" .root | nindent 4 }}
    app.kubernetes.io/component: {{ .component }}
rules:
  {{- .rules | trim | nindent 2 }}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: {{ $kind }}Binding
metadata:
  name: {{ .name }}
  {{- with .namespace }}
  namespace: {{ . }}
  {{- end }}
  labels:
    {{- include "cronjob-monitor.labels" .root | nindent 4 }}
    app.kubernetes.io/component: {{ .component }}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: {{ $kind }}, name: {{ .name }}}
subjects:
  - {kind: ServiceAccount, name: {{ include "cronjob-monitor.account" . }}, namespace: {{ .root.Release.Namespace }}}
{{ end -}}
