{{/* What the schema of the values cannot say, since it compares two of them. */}}
{{- define "cronjob-monitor.checks" -}}
{{- $scaling := .Values.apiserver.autoscaling -}}
{{- if and $scaling.enabled (gt (int $scaling.minReplicas) (int $scaling.maxReplicas)) -}}
{{- fail (printf "apiserver.autoscaling.minReplicas = %d is more than maxReplicas = %d: raise maxReplicas" (int $scaling.minReplicas) (int $scaling.maxReplicas)) -}}
{{- end -}}
{{- $ports := list (include "cronjob-monitor.uiPort" .) (include "cronjob-monitor.probesPort" .) (include "cronjob-monitor.metricsPort" .) -}}
{{- if ne (len (uniq $ports)) (len $ports) -}}
{{- fail (printf "config.ui.port, config.probes.bind-address and config.metrics.bind-address need ports of their own, not %s" (join ", " $ports)) -}}
{{- end -}}
{{- end -}}
