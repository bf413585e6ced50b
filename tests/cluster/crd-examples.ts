import { wholeMonitorSpec } from '@cronjob-monitor/shared/testing';

/** Examples for readers: every channel type, and a monitor that uses most of what there is. */
export const exampleMonitor = `
apiVersion: cronjob-monitor.io/v1alpha1
kind: CronJobMonitor
metadata: {name: backups, namespace: default}
spec:
  selector:
    matchLabels: {tier: backup}
    matchExpressions: [{key: stage, operator: NotIn, values: [canary]}]
    namespaces: [prod, prod-db]
  deadManSwitch: {enabled: true, maxTimeSinceLastSuccess: 25h}
  missedSchedule: {grace: 5m, threshold: 1, skipWarnAfter: 3}
  jobFailed: {failureThreshold: 1, recoveryThreshold: 2}
  sla: {enabled: true, minSuccessRate: 97.5, windowDays: 14, minRuns: 5, maxDuration: 45m, minDuration: 30s,
    finishBy: {time: "06:00", timezone: Europe/Berlin}, durationRegressionThreshold: 60, durationBaselineWindowDays: 21}
  output: {fromLogs: true, assertions: [{name: rows, fact: rows, min: 1, required: true, severity: critical}, {name: size, fact: bytes, dropBelow: {percent: 50}}]}
  stuckJobs: {notStartedAfter: 10m, hopelessAfter: 2m, overrunningAfter: 2h, terminatingAfter: 10m}
  suspendedHandling: {pauseMonitoring: true, alertIfSuspendedFor: 1w}
  expects: {names: [nightly, prod-db/backup], seen: true, except: [prod/once], grace: 0s}
  dependsOn: [nightly, prod-db/load]
  maintenanceWindows:
    - {name: storage, schedule: "0 1 * * 0", duration: 3h, timezone: Europe/Berlin, suppressAlerts: true, excludeFromSla: true}
  alerting:
    channelRefs: [{name: team-chat, severities: [critical, warning]}, {name: on-call, severities: [critical]}]
    severityOverrides: {jobFailed: critical}
    includeContext: {logs: true, logLines: 40, logContainerName: backup, events: true, podStatus: true, suggestedFixes: true}
    suggestedFixPatterns:
      - name: disk-full
        match: {exitCodeRange: {min: 1, max: 2}, logPattern: "(?i)no space left on device"}
        suggestion: "The volume of {{ .CronJob.Name }} in {{ .Namespace }} is full: free space or grow the claim."
        priority: 150
    suppressDuplicatesFor: 2h
    alertDelay: 5m
    remindEvery: 12h
  dataRetention: {retentionDays: 60, storeLogs: true, logRetentionDays: 14, onCronJobDeletion: purge-after-days, purgeAfterDays: 7}
`;

export const exampleChannel = `
apiVersion: cronjob-monitor.io/v1alpha1
kind: AlertChannel
metadata: {name: team-hooks}
spec:
  type: webhook
  webhook:
    urlSecretRef: {name: team-hooks, namespace: cronjob-monitor, key: url}
    method: POST
    headers: {X-Team: data}
    payloadTemplate: '{"text": "{{ .Alert.Title }}", "severity": "{{ .Alert.Severity }}", "job": "{{ .JobName }}"}'
    signingSecretRef: {name: team-hooks, namespace: cronjob-monitor, key: signing-key}
  rateLimiting: {maxAlertsPerHour: 100, burstLimit: 10}
  testOnSave: true
`;

const ref = { name: 'a', namespace: 'b', key: 'c' };
const aWindow = { name: 'w', schedule: '0 1 * * 0', duration: '3h' };
const aPattern = { name: 'p', match: { exitCode: 1 }, suggestion: 'look' };

/** What the API server refuses in a CronJobMonitor, and a piece of what it says. */
export const refusedMonitors: readonly { says: string; spec: object; message: string }[] = [
  { says: 'expectations without any', spec: { expects: { grace: '1m' } }, message: 'expects needs names or seen' },
  {
    says: 'groups of Jobs by nothing',
    spec: { jobs: { only: true } },
    message: 'jobs needs matchLabels, matchExpressions, ownerKinds or hasAnnotations',
  },
  {
    says: 'a route that folds what it does not ask for',
    spec: { alerting: { routes: [{ name: 'r', channels: ['a'], fold: true }] } },
    message: 'fold needs when.causes',
  },
  { says: 'a parent that is no CronJob', spec: { dependsOn: ['a/b/c'] }, message: 'should match' },
  {
    says: 'more parents than are looked at',
    spec: { dependsOn: Array.from({ length: 21 }, (_, index) => `c${index}`) },
    message: 'must have at most 20 items',
  },
  { says: 'a name of no CronJob', spec: { expects: { names: ['a/b/c'] } }, message: 'should match' },
  {
    says: 'an assertion that asserts nothing',
    spec: { output: { assertions: [{ name: 'a', fact: 'rows' }] } },
    message: 'an assertion needs min, max, dropBelow or required',
  },
  {
    says: 'an assertion that is switched to not required and asserts nothing else',
    spec: { output: { assertions: [{ name: 'a', fact: 'rows', required: false }] } },
    message: 'an assertion needs min, max, dropBelow or required',
  },
  {
    says: 'an assertion whose minimum exceeds its maximum',
    spec: { output: { assertions: [{ name: 'a', fact: 'rows', min: 2, max: 1 }] } },
    message: 'min must not exceed max',
  },
  { says: 'a duration of zero', spec: { missedSchedule: { grace: '0s' } }, message: 'must be longer than zero' },
  {
    says: 'a duration of many zeros',
    spec: { stuckJobs: { notStartedAfter: '0.0h0m' } },
    message: 'must be longer than zero',
  },
  {
    says: 'a duration of zero in an optional field',
    spec: { sla: { maxDuration: '0d' } },
    message: 'must be longer than zero',
  },
  {
    says: 'a duration of zero weeks of suspension',
    spec: { suspendedHandling: { alertIfSuspendedFor: '0w' } },
    message: 'must be longer than zero',
  },
  {
    says: 'a window of zero',
    spec: { maintenanceWindows: [{ ...aWindow, duration: '0m' }] },
    message: 'must be longer than zero',
  },
  { says: 'a duration without unit', spec: { missedSchedule: { grace: '90' } }, message: 'should match' },
  { says: 'a negative duration', spec: { missedSchedule: { grace: '-5m' } }, message: 'should match' },
  {
    says: 'a number in place of a duration',
    spec: { missedSchedule: { grace: 90 } },
    message: 'must be of type string',
  },
  {
    says: 'namespaces and allNamespaces',
    spec: { selector: { namespaces: ['a'], allNamespaces: true } },
    message: 'give at most one of namespaces',
  },
  {
    says: 'namespaces and namespaceSelector',
    spec: { selector: { namespaces: ['a'], namespaceSelector: {} } },
    message: 'give at most one of namespaces',
  },
  {
    says: 'namespaceSelector and allNamespaces',
    spec: { selector: { namespaceSelector: {}, allNamespaces: true } },
    message: 'give at most one of namespaces',
  },
  {
    says: 'In without values',
    spec: { selector: { matchExpressions: [{ key: 'a', operator: 'In' }] } },
    message: 'In and NotIn need values',
  },
  {
    says: 'NotIn with no values',
    spec: { selector: { matchExpressions: [{ key: 'a', operator: 'NotIn', values: [] }] } },
    message: 'In and NotIn need values',
  },
  {
    says: 'Exists with values',
    spec: { selector: { namespaceSelector: { matchExpressions: [{ key: 'a', operator: 'Exists', values: ['b'] }] } } },
    message: 'In and NotIn need values',
  },
  {
    says: 'an unknown operator',
    spec: { selector: { matchExpressions: [{ key: 'a', operator: 'Gt', values: ['1'] }] } },
    message: 'Unsupported value: "Gt"',
  },
  { says: 'one name twice', spec: { selector: { matchNames: ['a', 'a'] } }, message: 'Duplicate value' },
  {
    says: 'a switch with nothing to go by',
    spec: { deadManSwitch: {} },
    message: 'deadManSwitch needs maxTimeSinceLastSuccess or autoFromSchedule',
  },
  {
    says: 'a switch whose schedule part is off',
    spec: { deadManSwitch: { autoFromSchedule: { enabled: false } } },
    message: 'deadManSwitch needs',
  },
  {
    says: 'a zone by abbreviation',
    spec: { maintenanceWindows: [{ ...aWindow, timezone: 'PST' }] },
    message: 'use an IANA name such as Europe/Berlin',
  },
  {
    says: 'a zone by abbreviation in finishBy',
    spec: { sla: { finishBy: { time: '06:00', timezone: 'CET' } } },
    message: 'use an IANA name such as Europe/Berlin',
  },
  {
    says: 'a time of day of 24:00',
    spec: { sla: { finishBy: { time: '24:00' } } },
    message: 'use HH:MM from 00:00 to 23:59',
  },
  {
    says: 'a time of day with seconds',
    spec: { sla: { finishBy: { time: '06:00:00' } } },
    message: 'use HH:MM from 00:00 to 23:59',
  },
  {
    says: 'finishBy without a time',
    spec: { sla: { finishBy: {} } },
    message: 'spec.sla.finishBy.time: Required value',
  },
  {
    says: 'a pattern that matches nothing',
    spec: { alerting: { suggestedFixPatterns: [{ ...aPattern, match: {} }] } },
    message: 'match needs at least one criterion',
  },
  {
    says: 'a range the wrong way round',
    spec: { alerting: { suggestedFixPatterns: [{ ...aPattern, match: { exitCodeRange: { min: 2, max: 1 } } }] } },
    message: 'min must not exceed max',
  },
  {
    says: 'two patterns of one name',
    spec: { alerting: { suggestedFixPatterns: [aPattern, aPattern] } },
    message: 'Duplicate value',
  },
  {
    says: 'two references to one channel',
    spec: { alerting: { channelRefs: [{ name: 'a' }, { name: 'a' }] } },
    message: 'Duplicate value',
  },
  {
    says: 'an unknown severity',
    spec: { alerting: { channelRefs: [{ name: 'a', severities: ['info'] }] } },
    message: 'Unsupported value: "info"',
  },
  {
    says: 'more failures than runs',
    spec: { jobFailed: { failuresOfLast: { failures: 3, runs: 2 } } },
    message: 'failures must not exceed runs',
  },
  { says: 'a threshold of zero', spec: { jobFailed: { failureThreshold: 0 } }, message: 'greater than or equal to 1' },
  { says: 'a rate above 100', spec: { sla: { minSuccessRate: 100.1 } }, message: 'less than or equal to 100' },
  { says: 'half a day', spec: { sla: { windowDays: 1.5 } }, message: 'must be of type integer' },
  {
    says: 'purging after no number of days',
    spec: { dataRetention: { onCronJobDeletion: 'purge-after-days' } },
    message: 'purge-after-days needs purgeAfterDays',
  },
  {
    says: 'logs kept longer than runs',
    spec: { dataRetention: { retentionDays: 5, logRetentionDays: 6 } },
    message: 'logRetentionDays must not exceed retentionDays',
  },
];

/** What it accepts, at the edges of the same rules. */
export const acceptedMonitors: readonly { says: string; spec?: object }[] = [
  { says: 'no spec at all' },
  { says: 'an empty spec', spec: {} },
  { says: 'every field at once', spec: wholeMonitorSpec },
  {
    says: 'zero where zero is allowed',
    spec: { alerting: { suppressDuplicatesFor: '0s', alertDelay: '0m', remindEvery: '0h' } },
  },
  { says: 'durations of every unit', spec: { missedSchedule: { grace: '1w2d3h4m5s6ms7us8µs9ns' } } },
  { says: 'a fraction of a unit', spec: { missedSchedule: { grace: '0.5h' } } },
  {
    says: 'an empty list of namespaces beside allNamespaces',
    spec: { selector: { namespaces: [], allNamespaces: true } },
  },
  { says: 'a switch that is off with nothing to go by', spec: { deadManSwitch: { enabled: false } } },
  { says: 'a switch by schedule alone', spec: { deadManSwitch: { autoFromSchedule: {} } } },
  {
    says: 'UTC and a zone of three parts',
    spec: {
      maintenanceWindows: [
        { ...aWindow, timezone: 'UTC' },
        { ...aWindow, name: 'x', timezone: 'America/Argentina/Ushuaia' },
      ],
    },
  },
  { says: 'an empty list of severities', spec: { alerting: { channelRefs: [{ name: 'a', severities: [] }] } } },
  {
    says: 'a pattern by exit code 0',
    spec: { alerting: { suggestedFixPatterns: [{ ...aPattern, match: { exitCode: 0 } }] } },
  },
];

/** The name of what is refused. */
export const refusedName = 'x';

export const refusedChannels: readonly { says: string; spec: object; message: string }[] = [
  {
    says: 'a type without its block',
    spec: { type: 'chat' },
    message: 'spec.chat is needed exactly when spec.type is chat',
  },
  {
    says: 'a block of another type',
    spec: { type: 'chat', chat: { webhookSecretRef: ref }, paging: { routingKeySecretRef: ref } },
    message: 'spec.paging is needed exactly when spec.type is paging',
  },
  {
    says: 'an unknown chat service',
    spec: { type: 'chat', chat: { webhookSecretRef: ref, format: 'irc' } },
    message: 'Unsupported value: "irc"',
  },
  {
    says: 'telegram without the id of a chat',
    spec: { type: 'chat', chat: { webhookSecretRef: ref, format: 'telegram' } },
    message: 'format telegram needs defaultChannel',
  },
  {
    says: 'an Alertmanager that is sent a template',
    spec: { type: 'webhook', webhook: { urlSecretRef: ref, format: 'alertmanager', payloadTemplate: '{}' } },
    message: 'format alertmanager takes no payloadTemplate, no signingSecretRef and no method but POST',
  },
  {
    says: 'an Alertmanager that is sent to with PUT',
    spec: { type: 'webhook', webhook: { urlSecretRef: ref, format: 'alertmanager', method: 'PUT' } },
    message: 'format alertmanager takes no payloadTemplate, no signingSecretRef and no method but POST',
  },
  {
    says: 'an email block for a webhook',
    spec: { type: 'webhook', email: { smtpSecretRef: { name: 'a', namespace: 'b' }, from: 'a@b.c', to: ['a@b.c'] } },
    message: 'spec.webhook is needed exactly when',
  },
  {
    says: 'an email channel without a block',
    spec: { type: 'email' },
    message: 'spec.email is needed exactly when spec.type is email',
  },
  {
    says: 'a drill that falls back on itself',
    spec: {
      type: 'chat',
      chat: { webhookSecretRef: ref },
      drill: { schedule: '0 9 * * 1', fallbackChannel: refusedName },
    },
    message: 'spec.drill.fallbackChannel must be another channel',
  },
  { says: 'no type', spec: { chat: { webhookSecretRef: ref } }, message: 'spec.type: Required value' },
  { says: 'an unknown type', spec: { type: 'pigeon' }, message: 'Unsupported value: "pigeon"' },
  {
    says: 'a reference without a key',
    spec: { type: 'chat', chat: { webhookSecretRef: { name: 'a', namespace: 'b' } } },
    message: 'webhookSecretRef.key: Required value',
  },
  ...['Host', 'connection', 'Transfer-Encoding', 'CONTENT-LENGTH', 'content-encoding', 'Webhook-Id'].map((name) => ({
    says: `the header ${name}`,
    spec: { type: 'webhook', webhook: { urlSecretRef: ref, headers: { [name]: 'x' } } },
    message: 'this header is set by the service',
  })),
  {
    says: 'a header with a blank',
    spec: { type: 'webhook', webhook: { urlSecretRef: ref, headers: { 'X Y': 'x' } } },
    message: 'a header name has 1 to 64',
  },
  {
    says: 'a header value of two lines',
    spec: { type: 'webhook', webhook: { urlSecretRef: ref, headers: { X: 'a\r\nb' } } },
    message: 'should match',
  },
  {
    says: 'an address with a display name',
    spec: {
      type: 'email',
      email: { smtpSecretRef: { name: 'a', namespace: 'b' }, from: 'Ops <a@b.c>', to: ['a@b.c'] },
    },
    message: 'should match',
  },
  {
    says: 'no receiver',
    spec: { type: 'email', email: { smtpSecretRef: { name: 'a', namespace: 'b' }, from: 'a@b.c', to: [] } },
    message: 'should have at least 1 items',
  },
  {
    says: 'a subject of two lines',
    spec: {
      type: 'email',
      email: { smtpSecretRef: { name: 'a', namespace: 'b' }, from: 'a@b.c', to: ['a@b.c'], subjectTemplate: 'a\nb' },
    },
    message: 'should match',
  },
  {
    says: 'an endpoint without TLS',
    spec: { type: 'paging', paging: { routingKeySecretRef: ref, endpoint: 'http://x' } },
    message: 'should match',
  },
];
