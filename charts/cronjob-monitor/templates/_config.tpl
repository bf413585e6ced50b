{{/* The configuration file: the user's keys, and those that follow from other values. */}}
{{- define "cronjob-monitor.config" -}}
{{- $config := deepCopy .Values.config -}}
{{- $db := .Values.database -}}
{{- $storage := get $config "storage" | default dict -}}
{{- $_ := set $storage "type" $db.type -}}
{{- if eq $db.type "sqlite" -}}
{{- $_ := set $storage "sqlite" (dict "path" "/data/guardian.db") -}}
{{- else -}}
{{- $server := get $storage $db.type | default dict -}}
{{- $_ := set $server "host" $db.host -}}
{{- if not (kindIs "invalid" $db.port) }}{{ $_ := set $server "port" (int $db.port) }}{{ end -}}
{{- $_ := set $server "database" $db.name -}}
{{- $_ := set $server "username" $db.username -}}
{{- $_ := set $server "password-file" "/secrets/database/password" -}}
{{- with $db.sslMode }}{{ $_ := set $server "ssl-mode" . }}{{ end -}}
{{- with $db.ca.existingSecret }}{{ $_ := set $server "ssl-ca" "/secrets/database-ca/ca.crt" }}{{ end -}}
{{- /* The work of a replica takes 20 to 32 connections at most; ten are enough, and all replicas fit into the default limit of a server. */ -}}
{{- $pool := get $server "pool" | default dict -}}
{{- if not (hasKey $pool "max-open-conns") }}{{ $_ := set $pool "max-open-conns" (max 10 (get $pool "max-idle-conns" | default 10 | int)) }}{{ end -}}
{{- $_ := set $server "pool" $pool -}}
{{- $_ := set $storage $db.type $server -}}
{{- $_ := set $storage "spool-path" "/spool" -}}
{{- end -}}
{{- $_ := set $config "storage" $storage -}}
{{- if eq .Values.mode "split" -}}
{{- $election := get $config "leader-election" | default dict -}}
{{- if not (hasKey $election "enabled") }}{{ $_ := set $election "enabled" true }}{{ end -}}
{{- $_ := set $config "leader-election" $election -}}
{{- end -}}
{{- $hosts := list -}}
{{- if .Values.ingress.enabled }}{{ range .Values.ingress.hosts }}{{ $hosts = append $hosts .host }}{{ end }}{{ end -}}
{{- if .Values.httpRoute.enabled }}{{ $hosts = concat $hosts .Values.httpRoute.hostnames }}{{ end -}}
{{- if $hosts -}}
{{- $api := get $config "api" | default dict -}}
{{- $_ := set $api "allowed-hosts" (concat (get $api "allowed-hosts" | default list) $hosts | uniq) -}}
{{- $_ := set $config "api" $api -}}
{{- end -}}
{{- if .Values.metrics.certificate.existingSecret -}}
{{- $metrics := get $config "metrics" | default dict -}}
{{- $_ := set $metrics "cert-path" "/secrets/metrics" -}}
{{- $_ := set $metrics "cert-name" .Values.metrics.certificate.certKey -}}
{{- $_ := set $metrics "cert-key" .Values.metrics.certificate.keyKey -}}
{{- $_ := set $config "metrics" $metrics -}}
{{- end -}}
{{- if .Values.actionsKey.existingSecret -}}
{{- $cluster := get $config "cluster" | default dict -}}
{{- $_ := set $cluster "actions-key-file" "/secrets/actions/key" -}}
{{- $_ := set $config "cluster" $cluster -}}
{{- end -}}
{{- toYaml $config -}}
{{- end -}}

{{- define "cronjob-monitor.uiPort" -}}
{{- (get .Values.config "ui" | default dict).port | default 8080 | int -}}
{{- end -}}

{{- define "cronjob-monitor.probesPort" -}}
{{- get (get .Values.config "probes" | default dict) "bind-address" | default ":8081" | regexFind "[0-9]+$" -}}
{{- end -}}

{{/* Empty when there is no listener. */}}
{{- define "cronjob-monitor.metricsPort" -}}
{{- /* A zero that is a number is no text, and `default` would take it for nothing. */ -}}
{{- $address := get (get .Values.config "metrics" | default dict) "bind-address" | toString | default ":8443" -}}
{{- if ne $address "0" }}{{ $address | regexFind "[0-9]+$" }}{{ end -}}
{{- end -}}

{{/* `true` or empty. */}}
{{- define "cronjob-monitor.metricsSecure" -}}
{{- $metrics := get .Values.config "metrics" | default dict -}}
{{- if and (include "cronjob-monitor.metricsPort" .) (ne (toString (get $metrics "secure")) "false") }}true{{ end -}}
{{- end -}}

{{/* `true` or empty: whether this process asks the cluster who a caller is. */}}
{{- define "cronjob-monitor.reviews" -}}
{{- $mode := (get .root.Values.config "auth" | default dict).mode | default "none" -}}
{{- if or (include "cronjob-monitor.metricsSecure" .root) (and (ne .component "controller") (ne $mode "none")) }}true{{ end -}}
{{- end -}}

{{- define "cronjob-monitor.uiEnabled" -}}
{{- if ne (toString (get (get .Values.config "ui" | default dict) "enabled")) "false" }}true{{ end -}}
{{- end -}}

{{- define "cronjob-monitor.elects" -}}
{{- $election := get .Values.config "leader-election" | default dict -}}
{{- if eq (toString (ternary (get $election "enabled") (eq .Values.mode "split") (hasKey $election "enabled"))) "true" }}true{{ end -}}
{{- end -}}
