// What docs/resources.md says besides the fields.
import { messagePlaceholders, suggestionPlaceholders } from '../../shared/src/domain/index.ts';
import { table } from './written-page.mjs';

const examples = `## Examples

Every field that is left out has its default, and a monitor with an empty spec is a good beginning: it watches all CronJobs of its
namespace for failed, missed and stuck runs, and tells no channel.

\`\`\`yaml
apiVersion: cronjob-monitor.io/v1alpha1
kind: CronJobMonitor
metadata:
  name: backups
  namespace: prod
spec:
  selector:
    matchLabels: { tier: backup }
  deadManSwitch:
    maxTimeSinceLastSuccess: 25h
  sla:
    minSuccessRate: 97.5
    windowDays: 14
    maxDuration: 45m
    finishBy: { time: "06:00", timezone: Europe/Berlin }
  suspendedHandling:
    alertIfSuspendedFor: 1w
  maintenanceWindows:
    - { name: storage, schedule: "0 1 * * 0", duration: 3h, timezone: Europe/Berlin }
  alerting:
    channelRefs:
      - { name: team-chat }
      - { name: on-call, severities: [critical] }
    severityOverrides: { jobFailed: critical }
    suggestedFixPatterns:
      - name: disk-full
        match: { logPattern: "(?i)no space left on device" }
        suggestion: "The volume of {{ .CronJob.Name }} in {{ .Namespace }} is full: free space or grow the claim."
        priority: 150
    alertDelay: 5m
\`\`\`

\`\`\`yaml
apiVersion: cronjob-monitor.io/v1alpha1
kind: AlertChannel
metadata:
  name: on-call
spec:
  type: paging
  paging:
    routingKeySecretRef: { name: paging, namespace: cronjob-monitor, key: routing-key }
\`\`\`

[recipes.md](recipes.md) has more of them by task, [channels.md](channels.md) a channel of each type.
`;

const reach = `## Which CronJobs a monitor selects

Those of its own namespace, or of the namespaces that \`namespaces\`, \`namespaceSelector\` or \`allNamespaces\` name; of these the ones
that meet every other criterion of the selector. Namespaces in \`ignored-namespaces\` are always left out, and \`cluster.watch-namespaces\`,
when it is set, bounds everything.

One with \`fallback\` leaves each CronJob to the monitors without it: it watches those that are selected by none of them.

Another namespace than the monitor's own has to agree, for a monitor can have logs sent to a channel: the monitor's namespace stands in
\`monitors.cross-namespace-from\` (by default the namespace of the service), or in the annotation \`cronjob-monitor.io/monitored-from\` of the
other namespace. What is left out although the monitor names it stands in the condition \`SelectorAuthorized\`.

Where several monitors select one CronJob each judges with its own fields, and tells its own channels. Logs and events are stored when one of
them asks for it, the longest retention holds, and history is purged or reset only when all of them ask for it.
`;

const jobs = `## Jobs without a CronJob

With \`jobs\` a monitor watches Jobs that no CronJob controls too: hooks of Helm, Jobs of a JobSet or another operator, Jobs that people make.
It looks for them in the namespaces of its selector, whose other criteria are about CronJobs alone.

They are watched in groups, since each Job runs once. The group of a Job is, the first that is there: its label \`cronjob-monitor.io/group\`; kind
and name of the object that controls it (\`jobset-train\`); its \`generateName\` without the hyphen; its name without \`-<digits>\` or five
letters of Kubernetes at the end (\`migrate-x7k2p\` is \`migrate\`). A group has the name \`~migrate\` wherever a CronJob has its own: in lists
(\`GET /cronjobs?kind=Jobs\`), alerts, silences, metrics and messages. Only Jobs that a monitor selects are runs of it.

A group has no schedule, so nothing of it is missed, late or absent. It is judged by jobFailed, jobStuck, \`sla.maxDuration\`,
\`sla.minDuration\` and \`sla.durationRegressionThreshold\`; each Job counts as a scheduled run does. The next Job of the group that
succeeds ends its alert. What does not run again is let go: an alert expires as \`forgotten\` when \`forgetAfter\` is over since the last Job of
the group ended, whether that Job is still there or not. At most 20,000 groups are watched in a cluster; the condition \`SpecValid\` names those
that are not.

\`\`\`yaml
apiVersion: cronjob-monitor.io/v1alpha1
kind: CronJobMonitor
metadata:
  name: hooks
  namespace: shop
spec:
  jobs:
    hasAnnotations: [helm.sh/hook]
    only: true
  alerting:
    channelRefs: [{ name: team-chat }]
\`\`\`

`;

const labels = `## Labels and annotations

${table(
  ['label or annotation', 'on', 'set by', 'what it says'],
  [
    [
      'annotations `cronjob-monitor.io/description`, `…/runbook`',
      'CronJob',
      'people',
      'shown; the runbook is a link in messages',
    ],
    [
      'annotations `cronjob-monitor.io/health`, `…/health-message`',
      'CronJob',
      'the leader, with `gitops.mirror`',
      'state of its [rollout](#rollout) and the generation that it is about, `Healthy/12`, and one sentence; by server-side apply, as the manager cronjob-monitor',
    ],
    [
      'annotation `cronjob-monitor.io/advice-ignore`',
      'CronJob, CronJobMonitor',
      'people',
      'kinds of findings that are to be left, with commas: `ForbidWithoutDeadline,LastLogLost`. They stay out of the condition `ConfigurationSound` and are counted apart in `GET /api/v1/advice`',
    ],
    [
      'annotation `cronjob-monitor.io/depends-on`',
      'CronJob',
      'people',
      'CronJobs that it waits for, at most 20: `name` or `namespace/name` with commas, besides `dependsOn` of its monitors, within their reach',
    ],
    [
      'annotations `cronjob-monitor.io/channel`, `…/severity`, `…/grace`, `…/max-duration`, `…/finish-by`, `…/mute-until`, `…/ignore`, `…/owner`',
      'CronJob, Namespace',
      'its owner',
      'in place of what monitors say: the table below',
    ],
    [
      'annotation `cronjob-monitor.io/monitored-from`',
      'Namespace',
      'its admin',
      'monitors of these namespaces may select here: names with commas, or `*`',
    ],
    [
      'label `cronjob-monitor.io/channel-secret: "true"`',
      'Secret',
      'people',
      'channels may use it; needed as `channels.require-secret-label` says: `off`, `own` (in the namespace of the service), `all`',
    ],
    ['label `cronjob-monitor.io/group`', 'Job', 'people', 'the group that a Job without a CronJob belongs to'],
    [
      'label `cronjob-monitor.io/retry: "true"`, annotation `cronjob-monitor.io/retry-of`',
      'Job',
      'people, tools',
      'it repeats the Job of that name',
    ],
    [
      'annotations `cronjob.kubernetes.io/instantiate: manual`, `cronjob-monitor.io/triggered-by`',
      'Job',
      'trigger',
      'started by hand; by whom',
    ],
  ],
)}

Owners of CronJobs speak for them by annotations. The word of a CronJob wins over that of its Namespace, that over the monitor, and that over the
default; each by itself. A monitor says with \`allowOverrides\` which of them count; all do unless it says otherwise.

${table(
  ['annotation `cronjob-monitor.io/…`', 'value', 'in place of'],
  [
    ['`channel`', '1 to 5 names of AlertChannels, with commas', 'the channels of `alerting.routes`'],
    ['`severity`', '`critical`, `warning`, or `jobFailed=critical,jobStuck=warning`', '`alerting.severityOverrides`'],
    ['`grace`', 'a duration: `5m`', '`missedSchedule.grace`'],
    ['`max-duration`', 'a duration, or `off`', '`sla.maxDuration`; it needs no `sla` block'],
    ['`finish-by`', '`06:00`, `06:00 Europe/Berlin`, or `off`', '`sla.finishBy`; it needs no `sla` block'],
    [
      '`mute-until`',
      'a date, which begins in the zone of the CronJob, or a time as in RFC 3339',
      'acts as a silence; more than 30 days ahead it does nothing yet',
    ],
    ['`ignore`', '`true`', 'monitors leave it out'],
    ['`owner`', 'a name', 'the label that `owners.label` names, of the CronJob, then of its Namespace'],
  ],
)}

A run is judged by what \`grace\`, \`max-duration\` and \`finish-by\` said when it ended or was due, also where the service looks later. Of a word that was
written while it did not look, the managed fields of the object tell when; of one that was taken away then nothing does, and what ended in that time is judged
without it. \`severity\`, \`channel\` and \`owner\` are what they say when something is told ([why](adr/0010-severity-and-channel-are-the-owners-of-now.md)).

A value that cannot be used counts as absent. The page and the API of the CronJob name it (\`annotationProblems\`), and the lint does:
\`AnnotationInvalid: grace: 5 is no duration; such as 5m\`. \`settings\` there tells of each setting its value and who says so. Where the CronJob itself has
it and a monitor selects it, an Event \`InvalidAnnotation\` of type Warning says so once for each value, five a second at most; \`kubectl describe cronjob\`
shows it for an hour. \`owners.events\` switches that off.
`;

const routes = `## Who is told

\`alerting.channelRefs\` are told, each of the severities that it takes. Besides them:

1. every route whose \`when.causes\` names the cause of the alert;
2. the channels of the annotation \`channel\`; if none of them can be told, the first other route that matches and of which a channel exists.

A route matches when all of its \`when\` holds: \`owners\` (a name may end in \`*\`), \`labels\` of the CronJob, or where it has none of this key of its
Namespace, \`causes\` and \`types\`. \`{{ .Owner }}\` in the name of a channel stands for the owner. With \`instead\`, \`channelRefs\` are not told; a
route that asks for causes and stands \`instead\` leaves out the owner's channels too, and the owner's pages say who was told. A route of which no channel can be told leaves out nothing.

An AlertChannel says with \`allowedNamespaces\` who may use it:

${table(
  ['named by', 'without `allowedNamespaces`', 'with it, admitted has to be'],
  [
    ['`channelRefs`; a route that asks for neither owners nor labels', 'yes', 'the namespace of the monitor'],
    [
      'a route that asks for owners or labels: the CronJob has chosen it',
      'yes',
      'that of the monitor and that of the CronJob',
    ],
    ['a route with `{{ .Owner }}`: the CronJob fills in the name', 'no', 'that of the monitor and that of the CronJob'],
    ['the annotation `channel`', 'no', 'that of the CronJob'],
  ],
)}

What it refuses is not told there: \`channelNotAllowed\` in the timeline of the alert, ChannelNotAllowed in the condition \`ChannelsResolved\` of the
monitor.
`;

const types = `## Types

${table(
  ['type', 'is'],
  [
    [
      'duration',
      "`90s`, `1h30m`, `7d`, `2w`: Go's syntax, and days of 24 hours and weeks of 7 days; at most 32 characters; longer than zero unless the table says 0",
    ],
    ['zone', 'an IANA name with a `/`, such as `Europe/Berlin`, or `UTC`'],
    [
      'reference',
      '`name` and `namespace` of a Secret; *with key* also the `key` of its value; all of them are required. The namespace must be in `channels.secret-namespaces` (by default that of the service)',
    ],
    ['time', 'an instant as Kubernetes writes it, RFC 3339'],
    ['int, number, bool, enum, string, object, list, map', 'as in JSON; an enum is one of the words'],
  ],
)}
Default *none*: the field is absent unless it is given. \`list[].field\` is a field of each item. Regular expressions are RE2: found anywhere,
and case counts unless they begin with \`(?i)\`.

A field that does not exist is dropped by the cluster without a word; \`cronjob-monitor lint\` ([command-line.md](command-line.md#lint)) names it.
A value that the service cannot use, such as a zone that does not exist, switches off only what needs it, and stands with its path in the
condition \`SpecValid\`.
`;

const placeholders = (names) => names.map((name) => `\`.${name}\``).join(' ');

const templates = `## Placeholders

\`{{ .Name }}\`, with blanks or without; no loops, conditions, pipes or functions. A value that is missing is empty text.

- In \`suggestion\`: ${placeholders(suggestionPlaceholders)}. An unknown one is named in the condition \`SpecValid\` and stays as written.
- In templates of channels these, and: ${placeholders(messagePlaceholders.slice(suggestionPlaceholders.length))}. An unknown one makes the
  channel not ready, and its messages go in the usual form.
`;

/** The page up to the fields. */
export function introduction(resources) {
  const kinds = resources.map(({ kind, plural, shortNames, scope, columns }) => [
    kind,
    scope === 'Namespaced' ? 'a namespace' : 'the cluster',
    `\`${plural}\`, \`${shortNames.join('`, `')}\``,
    columns.map(({ name }) => name).join(', '),
  ]);
  return [
    `# Resources

This page is written by \`node scripts/pages/resources-page.mjs\` from the CustomResourceDefinitions in \`charts/cronjob-monitor/crds\`.

Two kinds of the group \`cronjob-monitor.io\`, version \`v1alpha1\`. A CronJobMonitor says which CronJobs are watched, what counts as a problem
and who is told; an AlertChannel says where messages go.

${table(['kind', 'belongs to', 'in kubectl', 'columns of `kubectl get`'], kinds)}
Neither has a finalizer, so nothing keeps you from deleting them: the open alerts of a deleted monitor end as \`expired\`, the waiting messages
of a deleted channel as \`cancelled\`. What those would have told goes to the channels that the monitor names by then: while the alert lasts as usual,
and when it is over by one message with both times.
`,
    examples,
    types,
    reach,
    jobs.trimEnd(),
    labels,
    routes,
    templates,
  ].join('\n');
}

/** What stands below the fields of a block. */
export const notes = {
  dataRetention: `Absent fields take the values of \`history-retention.default-days\`, \`storage.log-retention-days\`, \`storage.max-log-size-kb\`,
\`storage.log-storage-enabled\` and \`storage.event-storage-enabled\` ([configuration.md](configuration.md)). More days than
\`history-retention.max-days\`, and more than \`storage.max-log-size-kb\`, are lowered to these, which the condition \`ConfigurationSound\` notes.
`,
  sla: `A block that names one target has the others with their defaults: without \`minSuccessRate\` the rate is held to 95 percent, without
\`durationRegressionThreshold\` durations are compared. \`minSuccessRate: 0\` and \`durationRegressionThreshold: 0\` switch these two off.
`,
  expects: `A CronJob that a monitor expects and does not select is told as \`absent\`, subject \`disappeared\`: it was deleted, its labels or the
consent of its namespace changed, or it never existed. One that is deleted and made anew within \`grace\`, or before the next look, which comes once a minute, tells nothing, and neither does the
deletion of its namespace or of the monitor. \`seen\` tells of deletions alone: a CronJob that was deselected before was let go on purpose.
`,
  output: `A run says what it did in one line, \`::cronjob-monitor rows=0 bytes=1.2e9\`: names of a to z, 0 to 9 and _ that begin with a letter, at most 32
characters; numbers as JSON writes them, up to 1e15; 16 pairs. It is the last such line of the termination messages of the regular containers,
where later containers win, or, with \`fromLogs\` and where no message has one, of the last 20 lines of their logs. Logs go with their Job: where it is kept for less
than a minute (\`ttlSecondsAfterFinished\`) advice \`OutputLogsGone\` says so. The pods of a Job that succeeded add up. What is ignored is named in \`factProblems\` of the CronJob. A CronJob keeps at most 32 names.

Each success is judged, also one by hand. \`dropBelow\` compares with the median of the last \`runs\` scheduled successes, from 3 on; one that fell
below is no measure for the next, until \`runs\` in a row have. A success of which no pod was seen, or whose log is not read yet, is not judged.
\`duration_seconds\` is the duration of the run.
`,
  stuckJobs: `Without \`overrunningAfter\` a run overruns when it takes five times as long as almost all before it (the 99th percentile), and longer
than an hour. With fewer than ten earlier runs it overruns when it takes longer than from its slot to the next one: after an hour at the
earliest, after 12 hours at the latest.

\`hopelessAfter\` is for waits that do not pass by themselves: InvalidImageName, ErrImageNeverPull, CreateContainerConfigError,
CreateContainerError, RunContainerError, pods that the cluster refuses to create (a quota, an admission webhook, a missing service account; found
within a minute, from the events of the Job), and an image that could not be pulled twice. They are told in containers of any pod of the Job,
also when others run. All other waits keep \`notStartedAfter\`, which is the limit of both where it is the shorter one.
`,
  alerting: `Absent \`suppressDuplicatesFor\`: \`rate-limits.default-suppress-duplicates-for\`. What opens and ends each type of alert stands in
[alerts.md](alerts.md).
`,
  'CronJobMonitor status': `Phase, alerts and conditions are written at once, figures at most every 30 s.

${table(
  ['condition', 'when well', 'otherwise', 'phase then'],
  [
    ['`Ready`', 'Evaluated', 'NotEvaluated (Unknown); InvalidSpec; EvaluationFailed', 'Pending; Degraded; Error'],
    [
      '`SpecValid`',
      'Valid',
      'InvalidField, InvalidPattern, InvalidTimeZone, InvalidSchedule; Undecodable',
      'Degraded; Error',
    ],
    [
      '`ChannelsResolved`',
      'AllReady, NoneReferenced',
      'ChannelNotFound, ChannelNotAllowed, ChannelNotReady',
      'Degraded',
    ],
    ['`SelectorAuthorized`', 'Authorized', 'NamespaceNotAuthorized, NamespaceIgnored, NamespaceNotFound', 'Degraded'],
    [
      '`SchedulesUnderstood`',
      'All',
      'ScheduleInvalid, ZoneUnknown, ZoneMismatch, ScheduleNeverFires, EveryNeverRuns',
      'Degraded',
    ],
    ['`ConfigurationSound`', 'Sound, Noted', 'LintFindings: the message lists them', 'unchanged'],
    [
      '`ExpectationsMet`',
      'AllPresent, NoneExpected',
      'Missing, OutOfReach, NamespaceGone: the message names them; NotEvaluated (Unknown)',
      'unchanged',
    ],
    [
      '`Healthy`',
      'AllHealthy',
      'the label of the worst alert, LastRunFailed, ScheduleProblem; Progressing, NothingSelected, NotEvaluated (Unknown)',
      'unchanged',
    ],
    ['`Stalled`', 'absent', 'True with the reason of SpecValid, while that is False', 'as SpecValid'],
  ],
)}
A monitor that is Degraded goes on with all that it can use.

### Rollout

\`rollout\` of a CronJob in the API, and the condition \`Healthy\`, judge the present job template alone, so that those who roll out a fix see whether
the fix works. A run counts when it was made from this template, or after it was written. The first that holds decides:

${table(
  ['state', 'holds when'],
  [
    ['Unknown', 'no monitor selects it, it was deleted, or its template was not read yet'],
    ['Suspended', 'it is suspended'],
    [
      'Degraded',
      'its schedule cannot be judged, its last run failed, or jobFailed, missedSchedule, deadManTriggered, jobStuck or absent began since',
    ],
    ['Progressing', 'no run has ended'],
    ['Healthy', 'else'],
  ],
)}

\`cronjob-monitor wait\` waits for one CronJob, and ends when it is Degraded. \`kubectl\` waits for all of a monitor, and goes on while one is Degraded:

\`\`\`sh
kubectl wait --for=condition=Healthy cjm/backups -n prod --timeout=30m
\`\`\`

Flux reads both by expressions in \`spec.healthCheckExprs\` of a Kustomization: the condition, and what \`gitops.mirror\` writes on CronJobs. What is Degraded ends
its waiting, and what was not judged yet is waited for.

\`\`\`yaml
healthCheckExprs:
  - apiVersion: cronjob-monitor.io/v1alpha1
    kind: CronJobMonitor
    current: status.conditions.exists(c, c.type == 'Healthy' && c.status == 'True')
    failed: status.conditions.exists(c, c.type == 'Healthy' && c.status == 'False')
  - apiVersion: batch/v1
    kind: CronJob
    inProgress: "!has(metadata.annotations) || !('cronjob-monitor.io/health' in metadata.annotations)"
    current: >-
      metadata.annotations['cronjob-monitor.io/health'] in
      ['Healthy/' + string(metadata.generation), 'Suspended/' + string(metadata.generation)]
    failed: metadata.annotations['cronjob-monitor.io/health'] == 'Degraded/' + string(metadata.generation)
\`\`\`

Without expressions tools read a monitor by kstatus, which tells of the monitor itself: Failed while it is \`Stalled\`, InProgress while it is not \`Ready\`
or its last edit is not judged, else Current, also before the service has seen it. So it is with an AlertChannel, which is InProgress where it is not \`Ready\`.
Argo CD reads scripts, which the chart brings:

\`\`\`sh
kubectl patch configmap argocd-cm -n argocd --patch-file charts/cronjob-monitor/gitops/argocd-cm.yaml
\`\`\`

${table(
  ['a CronJob', 'Argo CD 3.6 by itself', 'with the script and `gitops.mirror`'],
  [
    ['is new, or its first run goes on', 'Healthy', 'Progressing'],
    ['failed and never succeeded', 'Healthy', 'Degraded'],
    ['succeeded, whether a pod was retried or its Job is gone', 'Healthy', 'Healthy'],
    ['failed last', 'Degraded', 'Degraded'],
    ['failed last and runs again', 'Healthy', 'Degraded'],
    ['has a new template since it failed', 'Degraded', 'Progressing'],
    ['missed runs since', 'Healthy', 'Degraded'],
    ['is suspended', 'Healthy', 'Healthy'],
  ],
)}
Without the annotation the script judges as Argo CD does. A CronJobMonitor is Degraded where its \`phase\` is Degraded or Error, whatever its condition \`Healthy\`
says, and an AlertChannel where \`Ready\` is False.

With the configuration \`gitops.mirror\` the CronJob says it itself: annotation \`cronjob-monitor.io/health: Healthy/12\`, state and generation, which is compared
with \`metadata.generation\`. \`progressing\` says so of a template that has not run yet; \`healthy\` calls it healthy, for sync waves wait for each other. It is written on a
change, for one CronJob every 10 s at most and five a second in all, so a fleet of 10,000 has it after 35 min. After \`off\` the annotations stay until
they are taken away:

\`\`\`sh
kubectl annotate cronjobs --all --all-namespaces cronjob-monitor.io/health- cronjob-monitor.io/health-message-
\`\`\`
`,
  'AlertChannel status': `${table(
    ['condition', 'reason', 'when'],
    [
      ['`Ready` True', 'Validated', 'spec and Secrets can be used'],
      ['`Ready` Unknown', 'NotChecked', 'its Secrets have not been looked at yet'],
      ['`Ready` False', 'InvalidSpec', 'a field or template cannot be used, or the value of a Secret cannot'],
      ['', 'SecretNotFound', 'the Secret, or its key, does not exist'],
      [
        '',
        'SecretForbidden',
        'its namespace is not allowed, it lacks the label, or the service has no right to read it',
      ],
      [
        '',
        'AddressRefused',
        'the receiver is at an address that channels may not reach, or its endpoint is not one of `channels.paging-endpoints`',
      ],
      [
        '',
        'Unauthorized, Gone',
        'the receiver refused the last message, or is not there; see [channels.md](channels.md)',
      ],
      ['', 'ConsecutiveFailures', 'three attempts in a row failed, or more; any success ends it'],
      ['`ConfigurationSound`', 'Sound', 'always'],
    ],
  )}
The figures come from the database, so a restart loses none.
`,
};
