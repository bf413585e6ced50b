// What docs/metrics.md says besides the families.
import { controllerNames } from '../../controller/src/metrics/index.ts';
import {
  alertTypes,
  alertTypeTable,
  channelTypes,
  cronJobStatusFilters,
  deliveryErrorCategories,
  deliveryKinds,
  messageLabels,
  monitorPhases,
  openAlertStates,
  schedulerNames,
  severities,
  slotOutcomes,
  coverageStates,
} from '../../shared/src/contract/index.ts';
import { symptomCauses } from '../../shared/src/domain/index.ts';
import { retryReasons } from '../../shared/src/store/index.ts';

const causes = Object.keys(symptomCauses);
const symptoms = [...new Set(causes.map((cause) => symptomCauses[cause].symptom))];

const code = (words) => words.map((word) => `\`${word}\``).join(', ');

/** Label, which of the metrics that have it, its values. */
export const labelValues = [
  ['namespace', 'all', 'of the CronJob; empty for tests and digests'],
  ['cronjob', 'all', 'its name; empty for tests and digests'],
  [
    'monitor',
    'all',
    'name of the CronJobMonitor; `namespace/name` when it lives in another namespace than the CronJob',
  ],
  ['channel', 'all', 'name of the AlertChannel'],
  ['symptom', 'all', code(symptoms)],
  [
    'cause',
    'all',
    symptoms
      .map((symptom) => `of ${symptom}: ${code(causes.filter((cause) => symptomCauses[cause].symptom === symptom))}`)
      .join('; '),
  ],
  [
    'type',
    'all',
    `${code(alertTypes.map((type) => alertTypeTable[type].label))}; ${code(Object.values(messageLabels))} for messages that no alert made`,
  ],
  ['severity', 'all', `${code(severities)}; \`info\` for tests and digests`],
  ['status', '`…_executions_total`', code(['success', 'failure'])],
  ['status', '`…_executions_other_total`', code(['replaced', 'deleted', 'unobserved'])],
  ['status', '`…_cronjobs`', code(cronJobStatusFilters)],
  ['status', '`…_api_request_duration_seconds`', 'status of the answer'],
  ['fact', 'all', 'name of a fact about which a monitor asserts something'],
  ['percentile', '`…_duration_seconds`', code(['avg', 'p50', 'p95', 'p99'])],
  ['percentile', '`…_event_loop_delay_seconds`', code(['p50', 'p99', 'max'])],
  ['quantile', 'all', code(['0', '0.25', '0.5', '0.75', '1'])],
  ['phase', 'all', code(monitorPhases)],
  ['outcome', 'all', code(slotOutcomes)],
  ['state', '`…_alerts_open`', code(openAlertStates)],
  ['state', '`…_coverage`', code(coverageStates)],
  ['state', '`…_deliveries`', code(['ready', 'claimed', 'parked', 'dead'])],
  ['state', '`…_db_pool_connections`', code(['used', 'idle', 'waiting'])],
  ['kind', '`…_deliveries_total`', code(deliveryKinds)],
  ['kind', '`…_db_query_seconds`', code(['read', 'write'])],
  [
    'kind',
    '`…_prune_rows_total`',
    `${code(['executions', 'slots', 'logs', 'events', 'alerts'])} and other tables once rows of theirs were removed`,
  ],
  ['kind', '`…_api_reviews_total`', code(['token', 'access'])],
  ['result', '`…_deliveries_total`', code(['sent', 'dead', 'cancelled', 'collapsed', 'digested'])],
  ['result', '`…_delivery_send_seconds`', `\`ok\`, or ${code(deliveryErrorCategories)}`],
  [
    'result',
    '`…_evidence_captures_total`',
    `\`ok\`, or ${code(['podGone', 'containerWaiting', 'forbidden', 'timeout', 'nodeUnreachable', 'empty'])}`,
  ],
  ['result', '`…_reconcile_total`', code(['success', 'error', 'requeue'])],
  ['result', '`…_api_reviews_total`', code(['allowed', 'denied', 'error', 'cached'])],
  [
    'reason',
    '`…_alerts_suppressed_total`',
    code([
      'alertDelay',
      'alertingDisabled',
      'clearedBeforeSent',
      'collapsed',
      'digested',
      'duplicate',
      'flapping',
      'dependsOn',
      'inhibited',
      'maintenance',
      'noChannel',
      'sendResolved',
      'severityNotRouted',
      'silence',
      'startupGrace',
      'storm',
      'unknownChannel',
      'channelNotAllowed',
    ]),
  ],
  ['reason', '`…_db_retries_total`', code(retryReasons)],
  ['channel_type', 'all', code(channelTypes)],
  ['hold', 'all', code(['circuit', 'parked', 'invalid'])],
  ['scheduler', 'all', code(schedulerNames)],
  ['resource', '`…_watch_*`', code(['cronjobs', 'jobs', 'pods', 'namespaces', 'cronjobmonitors', 'alertchannels'])],
  ['resource', '`…_kube_*`', 'plural of what was asked for'],
  ['verb', 'all', 'of the request, as RBAC names it'],
  ['code', '`…_kube_requests_total`', 'status of the answer; `error` without one'],
  ['code', '`…_api_refused_total`', 'code of the error, as the API tells it'],
  ['against', 'all', code(['apiserver', 'database'])],
  ['controller', 'all', code(controllerNames)],
  ['name', 'all', 'the queue, named as its controller'],
  ['method', 'all', 'of the request; `other` for unusual ones'],
  ['route', 'all', 'pattern of the path, such as `/api/v1/cronjobs/{namespace}/{name}`; `ui`; `unknown`'],
  ['version', 'all', 'of the release'],
  ['entry_point', 'all', code(['controller', 'apiserver', 'standalone'])],
];

export const introduction = `# Metrics

This page is written by \`node scripts/pages/metrics-page.mjs\` from the metrics that the processes define.

Each process serves its own at \`/metrics\`, port 8443 (\`metrics.bind-address\`): controllers what happens to CronJobs and messages, API
servers their requests, \`standalone\` everything. They are served by HTTPS to callers that the cluster allows; [security.md](security.md#metrics)
tells which right that is. With the chart, \`metrics.serviceMonitor.enabled\` sets up the scrape; without it set \`honor_labels: true\`, for
\`namespace\` is the CronJob's.

- **One replica counts.** What is about CronJobs comes from the leading controller alone, so no sum counts anything twice. With the lead it
  moves to another pod, and counters begin there anew: \`sum without (pod, instance) (increase(…[1h]))\`.
- **No data, no series.** A rate or duration without runs is absent, never 0. The lines HELP and TYPE are always there.
- **How old a figure is.** Rates and durations move in the round of \`sla-recalculation\` after a run, a missed run, or a run that has left their
  window: within \`scheduler.sla-recalculation-interval\`. What else moves them shows within an hour and one interval: another window in a monitor, or a
  first day of the window whose runs are no longer kept, which leaves it as a whole. A leader begins with all of them.
- **What is gone goes.** The gauges of a CronJob end when it is deleted or no monitor selects it any more, its counters an hour later.
- No label holds the name of a Job, a message, an address or a user.
`;

export const ending = `## Queries

CronJobs that have failed in the last hour:

\`\`\`promql
sum by (namespace, cronjob) (increase(cronjob_monitor_executions_total{status="failure"}[1h])) > 0
\`\`\`

CronJobs with an open critical alert:

\`\`\`promql
sum by (namespace, cronjob) (cronjob_monitor_active_alerts{severity="critical"}) > 0
\`\`\`

The five worst success rates, percent:

\`\`\`promql
bottomk(5, min by (namespace, cronjob) (cronjob_monitor_success_rate))
\`\`\`

How many of the expected runs of the last day did not start, as a share:

\`\`\`promql
sum(increase(cronjob_monitor_slots_total{outcome="missed"}[1d]))
  / sum(increase(cronjob_monitor_slots_total{outcome=~"matched|late|missed"}[1d]))
\`\`\`

Attempts to send that failed, by channel:

\`\`\`promql
sum by (channel) (increase(cronjob_monitor_alerts_failed_total[1h])) > 0
\`\`\`

## Rules and dashboard

- Rules about the service's own health: \`charts/cronjob-monitor/rules/health.yaml\`, in the cluster with \`metrics.prometheusRule.enabled\`.
  [operations.md](operations.md#the-rules) has a section for each.
- A dashboard for Grafana: \`charts/cronjob-monitor/dashboards/cronjob-monitor.json\`, in the cluster with \`metrics.dashboard.enabled\`.

About CronJobs no rules are needed: that is what monitors and channels are for ([alerts.md](alerts.md)). The metrics show the same alerts in
\`cronjob_monitor_active_alerts\`.
`;
