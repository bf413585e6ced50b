{{/* What the schema of the values cannot say, since it compares two of them. */}}
{{- define "cronjob-monitor.checks" -}}
{{- $scaling := .Values.apiserver.autoscaling -}}
{{- if and $scaling.enabled (gt (int $scaling.minReplicas) (int $scaling.maxReplicas)) -}}
{{- fail (printf "apiserver.autoscaling.minReplicas = %d is more than maxReplicas = %d: raise maxReplicas" (int $scaling.minReplicas) (int $scaling.maxReplicas)) -}}
{{- end -}}
{{- $mode := (get .Values.config "auth" | default dict).mode | default "none" -}}
{{- if and (or .Values.ingress.enabled .Values.httpRoute.enabled) (eq $mode "none") (not .Values.ui.openToEverybody) -}}
{{- $way := ternary "ingress.enabled" "httpRoute.enabled" .Values.ingress.enabled -}}
{{- fail (printf "%s opens the user interface to everybody who reaches its address, and config.auth.mode = none checks no identity: set config.auth.mode to token or proxy, or ui.openToEverybody to true" $way) -}}
{{- end -}}
{{- if .Values.defaultMonitor.enabled -}}
{{- /* What Helm renders without a cluster looks nothing up. */ -}}
{{- with lookup "apiextensions.k8s.io/v1" "CustomResourceDefinition" "" "cronjobmonitors.cronjob-monitor.io" -}}
{{- range .spec.versions -}}
{{- if not (dig "openAPIV3Schema" "properties" "spec" "properties" "selector" "properties" "fallback" false (.schema | default dict)) -}}
{{- fail (printf "the CustomResourceDefinition cronjobmonitors.cronjob-monitor.io in the cluster is of an earlier version: its %s has no selector.fallback, which defaultMonitor needs: apply charts/cronjob-monitor/crds first (kubectl apply --server-side --filename charts/cronjob-monitor/crds/), or set defaultMonitor.enabled to false" .name) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- $retention := get .Values.config "history-retention" | default dict -}}
{{- $most := get $retention "max-days" | default 90 | int -}}
{{- $logs := get (get .Values.config "storage" | default dict) "log-retention-days" | default 0 | int -}}
{{- range $key, $days := dict "history-retention.default-days" (get $retention "default-days" | default 30 | int) "storage.log-retention-days" $logs -}}
{{- if gt $days $most -}}
{{- fail (printf "config.%s = %d is more than config.history-retention.max-days = %d: raise max-days" $key $days $most) -}}
{{- end -}}
{{- end -}}
{{- $rollups := get $retention "rollup-days" | default 400 | int -}}
{{- if lt $rollups $most -}}
{{- fail (printf "config.history-retention.rollup-days = %d is less than config.history-retention.max-days = %d: raise rollup-days" $rollups $most) -}}
{{- end -}}
{{- $ports := list (include "cronjob-monitor.uiPort" .) (include "cronjob-monitor.probesPort" .) (include "cronjob-monitor.metricsPort" .) -}}
{{- if ne (len (uniq $ports)) (len $ports) -}}
{{- fail (printf "config.ui.port, config.probes.bind-address and config.metrics.bind-address need ports of their own, not %s" (join ", " $ports)) -}}
{{- end -}}
{{- end -}}
