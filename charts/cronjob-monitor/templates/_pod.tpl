{{/* The pod of a component: root, component (controller, apiserver, standalone). */}}
{{- define "cronjob-monitor.pod" -}}
{{- $root := .root -}}
{{- $values := index $root.Values (ternary "apiserver" "controller" (eq .component "apiserver")) -}}
{{- $db := $root.Values.database -}}
{{- $sqlite := eq $db.type "sqlite" -}}
{{- $account := dict "existingSecret" $db.existingSecret "passwordKey" $db.passwordKey "username" "" -}}
{{- if and (eq .component "apiserver") $db.apiserver.existingSecret }}{{ $account = $db.apiserver }}{{ end -}}
{{- $controls := ne .component "apiserver" -}}
{{- $serves := and (ne .component "controller") (include "cronjob-monitor.uiEnabled" $root) -}}
metadata:
  labels:
    {{- include "cronjob-monitor.labels" $root | nindent 4 }}
    app.kubernetes.io/component: {{ .component }}
    {{- with $values.podLabels }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
  annotations:
    # A changed file is read at the start of a process, so its pods are replaced.
    checksum/config: {{ include "cronjob-monitor.config" $root | sha256sum }}
    {{- with $values.podAnnotations }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
spec:
  serviceAccountName: {{ include "cronjob-monitor.account" . }}
  automountServiceAccountToken: true
  enableServiceLinks: false
  terminationGracePeriodSeconds: 45
  {{- with $root.Values.imagePullSecrets }}
  imagePullSecrets:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with $values.priorityClassName }}
  priorityClassName: {{ . }}
  {{- end }}
  securityContext:
    {{- $hardened := dict "runAsNonRoot" true "runAsUser" 65532 "runAsGroup" 65532 "fsGroup" 65532 "fsGroupChangePolicy" "OnRootMismatch" "seccompProfile" (dict "type" "RuntimeDefault") }}
    {{- toYaml (mustMergeOverwrite $hardened (deepCopy $root.Values.podSecurityContext)) | nindent 4 }}
  {{- if ne .component "standalone" }}
  topologySpreadConstraints:
    {{- range list "kubernetes.io/hostname" "topology.kubernetes.io/zone" }}
    - maxSkew: 1
      topologyKey: {{ . }}
      whenUnsatisfiable: ScheduleAnyway
      labelSelector:
        matchLabels:
          {{- include "cronjob-monitor.selector" $ | nindent 10 }}
    {{- end }}
  {{- end }}
  {{- with $values.nodeSelector }}
  nodeSelector:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with $values.tolerations }}
  tolerations:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with $values.affinity }}
  affinity:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  containers:
    - name: {{ .component }}
      image: {{ include "cronjob-monitor.image" $root | quote }}
      imagePullPolicy: {{ $root.Values.image.pullPolicy }}
      args: [{{ .component }}.js, --config=/etc/cronjob-monitor/config.yaml]
      env:
        {{- with include "cronjob-monitor.heapMb" $values.resources }}
        - name: NODE_OPTIONS
          value: --max-old-space-size={{ . }}
        {{- end }}
        {{- if $account.username }}
        - name: MONITOR_STORAGE_{{ upper $db.type }}_USERNAME
          value: {{ $account.username | quote }}
        {{- end }}
        {{- if and $controls $root.Values.heartbeat.existingSecret }}
        - name: MONITOR_HEARTBEAT_URL
          valueFrom:
            secretKeyRef:
              name: {{ $root.Values.heartbeat.existingSecret }}
              key: {{ $root.Values.heartbeat.key }}
        {{- end }}
        {{- if and $controls $root.Values.caBundle.existingConfigMap }}
        - name: NODE_EXTRA_CA_CERTS
          value: /etc/cronjob-monitor-ca/ca.crt
        {{- end }}
      ports:
        {{- if $serves }}
        - name: http
          containerPort: {{ include "cronjob-monitor.uiPort" $root }}
        {{- end }}
        - name: probes
          containerPort: {{ include "cronjob-monitor.probesPort" $root }}
        {{- with include "cronjob-monitor.metricsPort" $root }}
        - name: metrics
          containerPort: {{ . }}
        {{- end }}
      # The process is up once it listens; how long its caches and the database take is a matter of readiness.
      startupProbe:
        httpGet: {path: /healthz, port: probes}
        periodSeconds: 1
        failureThreshold: 60
      livenessProbe:
        httpGet: {path: /healthz, port: probes}
        periodSeconds: 10
        timeoutSeconds: 5
        failureThreshold: 3
      readinessProbe:
        httpGet: {path: /readyz, port: probes}
        periodSeconds: 2
        timeoutSeconds: 2
        failureThreshold: 2
      resources:
        {{- toYaml $values.resources | nindent 8 }}
      securityContext:
        {{- $tight := dict "allowPrivilegeEscalation" false "readOnlyRootFilesystem" true "privileged" false "capabilities" (dict "drop" (list "ALL")) }}
        {{- toYaml (mustMergeOverwrite $tight (deepCopy $root.Values.containerSecurityContext)) | nindent 8 }}
      volumeMounts:
        - {name: config, mountPath: /etc/cronjob-monitor, readOnly: true}
        - {name: tmp, mountPath: /tmp}
        {{- if $sqlite }}
        - {name: data, mountPath: /data}
        {{- else }}
        - {name: database, mountPath: /secrets/database, readOnly: true}
        {{- if $db.ca.existingSecret }}
        - {name: database-ca, mountPath: /secrets/database-ca, readOnly: true}
        {{- end }}
        {{- if $controls }}
        - {name: spool, mountPath: /spool}
        {{- end }}
        {{- end }}
        {{- if $root.Values.metrics.certificate.existingSecret }}
        - {name: metrics, mountPath: /secrets/metrics, readOnly: true}
        {{- end }}
        {{- if and (ne .component "controller") $root.Values.actionsKey.existingSecret }}
        - {name: actions-key, mountPath: /secrets/actions, readOnly: true}
        {{- end }}
        {{- if and $controls $root.Values.caBundle.existingConfigMap }}
        - {name: ca-bundle, mountPath: /etc/cronjob-monitor-ca, readOnly: true}
        {{- end }}
  volumes:
    - name: config
      configMap: {name: {{ include "cronjob-monitor.fullname" $root }}-config}
    - name: tmp
      emptyDir: {sizeLimit: 256Mi}
    {{- if $sqlite }}
    - name: data
      {{- if $root.Values.persistence.enabled }}
      persistentVolumeClaim: {claimName: {{ include "cronjob-monitor.claim" $root }}}
      {{- else }}
      emptyDir: {}
      {{- end }}
    {{- else }}
    - name: database
      secret:
        secretName: {{ $account.existingSecret }}
        defaultMode: 288 # 0440
        items: [{key: {{ $account.passwordKey }}, path: password}]
    {{- if $db.ca.existingSecret }}
    - name: database-ca
      secret:
        secretName: {{ $db.ca.existingSecret }}
        items: [{key: {{ $db.ca.key }}, path: ca.crt}]
    {{- end }}
    {{- if $controls }}
    # Ended runs wait here while the database is away: they outlive a restart of the container.
    - name: spool
      emptyDir: {sizeLimit: 100Mi}
    {{- end }}
    {{- end }}
    {{- if and (ne .component "controller") $root.Values.actionsKey.existingSecret }}
    - name: actions-key
      secret:
        secretName: {{ $root.Values.actionsKey.existingSecret }}
        defaultMode: 288 # 0440
        items: [{key: {{ $root.Values.actionsKey.key }}, path: key}]
    {{- end }}
    {{- with $root.Values.metrics.certificate }}
    {{- if .existingSecret }}
    - name: metrics
      secret:
        secretName: {{ .existingSecret }}
        defaultMode: 288 # 0440
    {{- end }}
    {{- end }}
    {{- with $root.Values.caBundle }}
    {{- if and $controls .existingConfigMap }}
    - name: ca-bundle
      configMap:
        name: {{ .existingConfigMap }}
        items: [{key: {{ .key }}, path: ca.crt}]
    {{- end }}
    {{- end }}
{{- end -}}

{{/* Three quarters of the memory limit in MiB, for the heap; empty without a limit in Mi or Gi. */}}
{{- define "cronjob-monitor.heapMb" -}}
{{- $limit := toString (get (get . "limits" | default dict) "memory" | default "") -}}
{{- if regexMatch "^[0-9]+Mi$" $limit -}}
{{- div (mul (trimSuffix "Mi" $limit | int) 3) 4 -}}
{{- else if regexMatch "^[0-9]+Gi$" $limit -}}
{{- mul (trimSuffix "Gi" $limit | int) 768 -}}
{{- end -}}
{{- end -}}
