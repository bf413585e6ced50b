import { alertTypes, alertTypeTable } from '../contract/index.ts';

/** A CronJobMonitor's spec in which every field is set, none to its default where that can be avoided. As JSON. */
export const wholeMonitorSpec = {
  selector: {
    matchLabels: { tier: 'backup' },
    matchExpressions: [{ key: 'stage', operator: 'NotIn', values: ['canary'] }],
    matchNames: ['nightly'],
    namespaceSelector: {
      matchLabels: { team: 'data' },
      matchExpressions: [{ key: 'frozen', operator: 'NotIn', values: ['yes'] }],
    },
    allNamespaces: false,
    fallback: true,
  },
  jobs: {
    matchLabels: { team: 'data' },
    matchExpressions: [{ key: 'stage', operator: 'NotIn', values: ['canary'] }],
    ownerKinds: ['JobSet'],
    hasAnnotations: ['helm.sh/hook'],
    only: true,
    forgetAfter: '12h',
  },
  deadManSwitch: {
    enabled: true,
    maxTimeSinceLastSuccess: '25h',
    autoFromSchedule: { enabled: true, buffer: '0s', missedScheduleThreshold: 2 },
    fromCreation: true,
  },
  missedSchedule: { enabled: true, grace: '5m', threshold: 2, skipWarnAfter: 3 },
  jobFailed: {
    enabled: true,
    failureThreshold: 2,
    recoveryThreshold: 3,
    failuresOfLast: { failures: 3, runs: 10 },
    includeManual: false,
  },
  sla: {
    enabled: true,
    minSuccessRate: 97.5,
    windowDays: 14,
    minRuns: 5,
    countMissed: true,
    maxDuration: '45m',
    minDuration: '30s',
    finishBy: { time: '06:00', timezone: 'Europe/Berlin' },
    durationRegressionThreshold: 60,
    durationBaselineWindowDays: 21,
  },
  output: {
    fromLogs: true,
    assertions: [
      {
        name: 'rows',
        fact: 'rows',
        min: 1,
        max: 1e9,
        required: true,
        dropBelow: { percent: 50, runs: 7 },
        severity: 'critical',
      },
    ],
  },
  stuckJobs: {
    enabled: true,
    notStartedAfter: '11m',
    hopelessAfter: '3m',
    overrunningAfter: '2h',
    terminatingAfter: '12m',
  },
  suspendedHandling: { pauseMonitoring: false, alertIfSuspendedFor: '1w' },
  expects: { names: ['nightly', 'prod-db/backup'], seen: true, except: ['prod/once'], grace: '5m' },
  maintenanceWindows: [
    {
      name: 'storage',
      schedule: '0 1 * * 0',
      duration: '3h',
      timezone: 'Europe/Berlin',
      suppressAlerts: true,
      excludeFromSla: true,
    },
  ],
  dependsOn: ['load', 'other/load'],
  allowOverrides: ['grace', 'mute-until'],
  alerting: {
    enabled: true,
    channelRefs: [{ name: 'on-call', severities: ['critical'], after: '15m', unlessAcknowledged: true }],
    routes: [
      {
        name: 'platform',
        when: { owners: ['team-*'], labels: { tier: 'gold' }, causes: ['platform'], types: ['jobFailed'] },
        channels: ['platform', '{{ .Owner }}-chat'],
        severities: ['critical'],
        instead: true,
        fold: true,
      },
    ],
    includeContext: {
      logs: true,
      logLines: 40,
      logContainerName: 'backup',
      events: true,
      includeInitContainerLogs: true,
      podStatus: true,
      suggestedFixes: true,
    },
    severityOverrides: Object.fromEntries(
      alertTypes.map((type) => [type, alertTypeTable[type].severity === 'critical' ? 'warning' : 'critical']),
    ),
    suggestedFixPatterns: [
      {
        name: 'disk-full',
        match: {
          exitCode: 1,
          exitCodeRange: { min: 1, max: 2 },
          reason: 'Error',
          reasonPattern: '^Err',
          logPattern: '(?i)no space left on device',
          eventPattern: 'Evicted',
        },
        suggestion: 'The volume of {{ .CronJob.Name }} in {{ .Namespace }} is full.',
        priority: 150,
      },
    ],
    suppressDuplicatesFor: '2h',
    alertDelay: '5m',
    remindEvery: '12h',
    renotifyOnChangedError: true,
  },
  dataRetention: {
    retentionDays: 60,
    logRetentionDays: 14,
    maxLogSizeKB: 50,
    storeLogs: true,
    storeEvents: true,
    onCronJobDeletion: 'purge-after-days',
    purgeAfterDays: 7,
    onRecreation: 'reset',
  },
} as const;

const secretRef = { name: 'receiver', namespace: 'cronjob-monitor', key: 'value' } as const;
const rest = {
  rateLimiting: { maxAlertsPerHour: 60, burstLimit: 5 },
  sendResolved: false,
  allowedNamespaces: ['prod', 'team-*'],
  sendRecovered: true,
  testOnSave: true,
  drill: { schedule: '0 9 * * 1', timezone: 'Europe/Berlin', ackWithin: '2h', fallbackChannel: 'on-call' },
} as const;

/** AlertChannel specs in which every field is set, one for each type. As JSON. */
export const wholeChannelSpecs = {
  chat: {
    type: 'chat',
    chat: {
      webhookSecretRef: secretRef,
      format: 'mattermost',
      defaultChannel: '#ops',
      messageTemplate: '{{ .Alert.Title }}',
    },
    ...rest,
  },
  paging: {
    type: 'paging',
    paging: { routingKeySecretRef: secretRef, severity: 'error', endpoint: 'https://events.example.org/v2' },
    ...rest,
  },
  email: {
    type: 'email',
    email: {
      smtpSecretRef: { name: 'smtp', namespace: 'cronjob-monitor' },
      from: 'monitor@example.org',
      to: ['ops@example.org', 'dba@example.org'],
      tls: 'opportunistic',
      subjectTemplate: '{{ .Alert.Severity }}: {{ .CronJob.Name }}',
      bodyTemplate: '{{ .Alert.Message }}\n{{ .Context.Logs }}',
    },
    ...rest,
  },
  webhook: {
    type: 'webhook',
    webhook: {
      urlSecretRef: secretRef,
      method: 'PUT',
      headers: { 'X-Team': 'data' },
      payloadTemplate: '{"text": "{{ .Alert.Title }}"}',
      signingSecretRef: { ...secretRef, key: 'signing-key' },
      format: 'standard',
      readSilences: false,
      sendUpdates: true,
    },
    ...rest,
  },
} as const;
