import type {
  AlertMessage,
  DigestMessage,
  Message,
  MessageAlert,
  MessageContext,
  MessageJob,
  Outgoing,
  DrillMessage,
  TestMessage,
} from '../domain/index.ts';
import { headingOf } from '../domain/index.ts';

/** What a test changes of a message about a failed run. */
export interface AlertMessageChanges {
  readonly cluster?: string | null;
  readonly alert?: Partial<MessageAlert>;
  readonly cronjob?: Partial<AlertMessage['cronjob']>;
  /** Null: the alert is about no run. */
  readonly job?: Partial<MessageJob> | null;
  readonly context?: Partial<MessageContext>;
  readonly links?: Partial<AlertMessage['links']>;
}

const alertId = '019a5b3c-7d1e-7a40-8c11-2b5e9f3c21aa';
const uid = '77aa21c0-0c1d-4a8e-9b37-51f0a7c3d9e2';

const failedJob: MessageJob = {
  name: 'nightly-29107320',
  trigger: 'scheduled',
  scheduledTime: '2026-11-21T01:00:00.000Z',
  startTime: '2026-11-21T01:00:01.000Z',
  completionTime: '2026-11-21T01:02:42.000Z',
  durationSeconds: 161,
  exitCode: 137,
  reason: 'OOMKilled',
  attempts: 7,
};

const wholeContext: MessageContext = {
  suggestedFix: 'Raise the memory limit of nightly.',
  logs: 'loading 3 files\nKilled\n',
  logsTruncated: true,
  logsUnavailable: null,
  pending: false,
  events: [
    { time: '2026-11-21T01:02:30.000Z', type: 'Warning', reason: 'BackOff', message: 'back-off restarting', count: 2 },
  ],
  pods: [{ name: 'nightly-29107320-x7k2p', phase: 'Failed', reason: 'OOMKilled', node: 'node-3' }],
  changes: [{ path: 'containers.backup.image', before: 'backup:1.4', after: 'backup:1.5' }],
};

/** A message about a run that failed with all its context. */
export function anAlertMessage(changes: AlertMessageChanges = {}): AlertMessage {
  return {
    cluster: changes.cluster === undefined ? 'prod-eu' : changes.cluster,
    alert: {
      id: alertId,
      shortId: '9f3c21aa',
      type: 'jobFailed',
      subject: null,
      severity: 'warning',
      state: 'active',
      title: 'WARNING prod/nightly: run failed, exit 137 (OOMKilled), 3rd in a row',
      message: 'The run nightly-29107320 failed after 7 attempts.',
      since: '2026-11-19T01:02:42.000Z',
      detectedAt: '2026-11-21T01:02:43.000Z',
      endedAt: null,
      closeCause: null,
      cause: 'capacity',
      scope: 'namespace prod',
      occurrences: 3,
      notification: 1,
      heldBy: null,
      heldSeconds: 0,
      delayed: false,
      flapping: false,
      firstNotice: false,
      ...changes.alert,
    },
    monitor: { namespace: 'prod', name: 'backups' },
    cronjob: {
      namespace: 'prod',
      name: 'nightly',
      uid,
      schedule: '0 2 * * *',
      timezone: 'Europe/Berlin',
      lastSuccess: '2026-11-18T01:02:00.000Z',
      nextRun: '2026-11-22T01:00:00.000Z',
      ...changes.cronjob,
    },
    job: changes.job === null ? null : { ...failedJob, ...changes.job },
    context: { ...wholeContext, ...changes.context },
    links: {
      cronjob: 'https://monitor.example.org/cronjobs/prod/nightly',
      alert: `https://monitor.example.org/alerts/${alertId}`,
      execution: 'https://monitor.example.org/cronjobs/prod/nightly/executions/nightly-29107320',
      runbook: null,
      ...changes.links,
    },
  };
}

/** A storm, or what waited for a rate limit, with so many alerts. */
export function aDigestMessage(alerts = 3, digest: Partial<DigestMessage['digest']> = {}): DigestMessage {
  return {
    cluster: 'prod-eu',
    digest: {
      id: '019a5b3c-7d1e-7a40-8c11-0000000000d1',
      cause: 'storm',
      scope: null,
      ended: false,
      total: alerts,
      recovered: 0,
      before: 0,
      counts: [{ type: 'missedSchedule', severity: 'warning', count: alerts }],
      alerts: Array.from({ length: alerts }, (_, index) => ({
        id: `019a5b3c-7d1e-7a40-8c11-${String(index).padStart(12, '0')}`,
        type: 'missedSchedule' as const,
        subject: null,
        severity: 'warning' as const,
        namespace: 'prod',
        name: `job-${index}`,
        since: '2026-11-21T01:00:00.000Z',
        state: 'active' as const,
        endedAt: null,
      })),
      ...digest,
    },
    links: { alerts: 'https://monitor.example.org/alerts' },
  };
}

export function aTestMessage(changes: Partial<TestMessage> = {}): TestMessage {
  return {
    cluster: 'prod-eu',
    channel: 'team-chat',
    message: 'This is a test of the channel team-chat.',
    links: { channel: 'https://monitor.example.org/channels/team-chat' },
    ...changes,
  };
}

export function aDrillMessage(changes: Partial<DrillMessage> = {}): DrillMessage {
  return {
    cluster: 'prod-eu',
    channel: 'team-chat',
    title: 'DRILL: press the link if you read this',
    message: 'Press the link within 1 h: it proves that messages of the channel team-chat are read. Nothing is wrong.',
    drill: { id: '019a5b3c-8000-7000-8000-0000000d2111', news: 'press', untilAt: '2026-11-21T05:00:00.000Z' },
    links: {
      drill:
        'https://monitor.example.org/drills/019a5b3c-8000-7000-8000-0000000d2111?key=5f3a9c510b2e4d6f8a1c3e5d7f902b4d',
      channel: 'https://monitor.example.org/channels/team-chat',
    },
    ...changes,
  };
}

/** The message as a delivery sends it: firing unless the changes name another message. */
export function anOutgoing(changes: Partial<Outgoing> = {}): Outgoing {
  const message: Message = changes.message ?? { kind: 'firing', data: anAlertMessage() };
  return {
    deliveryId: '019a5b3c-8000-7000-8000-00000000d001',
    streamId: alertId,
    createdAt: Date.UTC(2026, 10, 21, 1, 2, 43),
    source: 'cronjob-monitor-1f2e3d4c',
    heading: headingOf(message),
    place: { pod: 'nightly-29107320-x7k2p', container: 'backup', image: 'backup:1.5', node: 'node-3' },
    ...changes,
    message,
  };
}
