// One message about a failed run as a channel gets it, made by the functions that run in the service.
import { createFreeze } from '../../controller/src/alerting/index.ts';
import { createFixMatcher, toHolding } from '../../shared/src/domain/index.ts';
import { cronJob, findExamples, jobName, slotAt, timeZone } from './example-findings.mjs';

const alertId = '01a1f153-cb38-7c11-8f2e-6b1d9f3c21aa';
const uid = '77aa21c0-0c1d-4a8e-9b37-51f0a7c3d9e2';
const pod = `${jobName()}-x7k2p`;
const place = { pod, container: 'backup', image: 'registry.example.org/backup:1.5', node: 'node-3' };
const dayMs = 86_400_000;

const run = {
  jobUid: '0b6a3a52-6a7e-4a4b-8f5f-2f9d7c1e4b10',
  jobName: jobName(),
  trigger: 'scheduled',
  scheduledAt: slotAt,
  startedAt: slotAt + 1_000,
  finishedAt: slotAt + 162_000,
  durationMs: 161_000,
  exitCode: 137,
  reason: 'OOMKilled',
  attempts: 2,
};

const logs = 'reading 3 volumes\nvolume 1 of 3: 18 GB\nvolume 2 of 3: 41 GB\n';

const evidence = {
  logs,
  logsTruncated: true,
  logsUnavailable: null,
  pending: false,
  events: [
    {
      time: new Date(slotAt + 150_000).toISOString(),
      type: 'Warning',
      reason: 'BackOff',
      message: `Back-off restarting failed container backup in pod ${pod}`,
      count: 2,
    },
  ],
  pods: [{ name: pod, phase: 'Failed', reason: 'OOMKilled', node: place.node }],
};

const suggestedFix = createFixMatcher()({
  key: '',
  patterns: [],
  facts: { exitCode: run.exitCode, reasons: [run.reason], log: logs, events: [] },
  values: {
    'CronJob.Name': cronJob.name,
    'CronJob.Namespace': cronJob.namespace,
    Namespace: cronJob.namespace,
    Name: cronJob.name,
    JobName: run.jobName,
    Container: place.container,
  },
})?.text;

/** The third failure in a row, as a delivery carries it; or what follows it. `changes`: of the alert. */
export function exampleOutgoing(kind = 'firing', changes = {}) {
  const { verdict, now } = findExamples().find(({ type }) => type === 'jobFailed');
  const worded = toHolding('jobFailed', undefined, verdict, { timeZone, run });
  const isOver = kind === 'closing';
  const endedAt = isOver ? slotAt + dayMs + 150_000 : undefined;
  const at = endedAt ?? now;
  const changed = [{ path: 'containers[backup].image', before: 'registry.example.org/backup:1.4', after: place.image }];
  const alert = {
    ...cronJob,
    id: alertId,
    cronJobName: cronJob.name,
    type: 'jobFailed',
    severity: 'warning',
    state: isOver ? 'resolved' : 'active',
    detectedAt: worded.sinceAt + 1_000,
    endedAt,
    delayed: false,
    ...worded,
    ...changes,
    context: { ...worded.context, suggestedFix, changes: changed, place },
  };
  const freeze = createFreeze({
    clusterName: 'prod-eu',
    externalUrl: 'https://monitor.example.org',
    findCronJob: () => ({
      schedule: '0 2 * * *',
      timeZone,
      lastSuccessAt: slotAt - 3 * dayMs + 150_000,
      nextRunAt: slotAt + dayMs,
      runbook: 'https://wiki.example.org/backups',
    }),
  });
  const frozen = freeze({
    kind,
    alert,
    finding: {
      monitor: { namespace: 'prod', name: 'backups' },
      cronJob: { ...cronJob, uid },
      type: 'jobFailed',
      subject: undefined,
      verdict: isOver ? { kind: 'quiet', by: jobName(-1) } : { kind: 'holds', occurred: 1, delayed: false, ...worded },
    },
    notification: isOver ? 4 : 3,
    held: undefined,
    evidence: isOver ? undefined : evidence,
    at,
  });
  const deliveryId = isOver ? '01a200c6-ac70-7d03-a1c5-0e94b5a7c302' : '01a1fba0-8338-7d03-a1c5-0e94b5a7c301';
  return { ...frozen, deliveryId, streamId: alertId, createdAt: at, source: 'cronjob-monitor-1f2e3d4c' };
}
