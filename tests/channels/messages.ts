import type { DrillMessage, Message, Outgoing } from '@cronjob-monitor/shared/domain';
import {
  aDigestMessage,
  aDrillMessage,
  anAlertMessage,
  anOutgoing,
  aTestMessage,
} from '@cronjob-monitor/shared/testing';

const resolved = anAlertMessage({
  alert: {
    state: 'resolved',
    title: 'RESOLVED prod/nightly: job failed, after 3 h 12 min',
    endedAt: '2026-11-21T04:14:42.000Z',
  },
});
const expired = anAlertMessage({
  alert: { state: 'expired', closeCause: 'cronJobDeleted', title: 'CLOSED prod/nightly: job failed, CronJob deleted' },
});

/** One message of every kind that there is. */
export const everyKind: readonly { readonly says: string; readonly message: Message }[] = [
  { says: 'firing', message: { kind: 'firing', data: anAlertMessage() } },
  { says: 'firing without a run', message: { kind: 'firing', data: withoutRun() } },
  { says: 'reminder', message: { kind: 'reminder', data: anAlertMessage({ alert: { notification: 2 } }) } },
  { says: 'flapping', message: { kind: 'flapping', data: anAlertMessage({ alert: { flapping: true } }) } },
  { says: 'resolved', message: { kind: 'closing', data: resolved } },
  { says: 'expired', message: { kind: 'closing', data: expired } },
  { says: 'storm', message: { kind: 'digest', data: aDigestMessage(34) } },
  { says: 'storm over', message: { kind: 'digest', data: aDigestMessage(2, { ended: true }) } },
  {
    says: 'storm over, nothing left',
    message: { kind: 'digest', data: aDigestMessage(0, { ended: true, counts: [] }) },
  },
  { says: 'digest of a rate limit', message: { kind: 'digest', data: aDigestMessage(500, { cause: 'rateLimit' }) } },
  { says: 'test', message: { kind: 'test', data: aTestMessage() } },
  { says: 'drill', message: { kind: 'drill', data: aDrillMessage() } },
  { says: 'drill, over', message: { kind: 'drill', data: drillOf('over') } },
  { says: 'drill that proved nothing', message: { kind: 'drill', data: drillOf('unproved') } },
];

/** The same kinds with texts as long and as odd as strangers make them. */
export function monstrous(): Outgoing[] {
  const text = '<!channel> & `code` ``` "quoted" \'x\' \\ \u001b[31m\u202e é漢😀\n'.repeat(2_000);
  const data = anAlertMessage({
    cluster: 'c'.repeat(63),
    alert: { title: text, message: text },
    cronjob: { name: 'n'.repeat(253), namespace: 's'.repeat(63), schedule: '* '.repeat(500) },
    job: { name: 'j'.repeat(253), reason: text },
    context: {
      suggestedFix: text,
      logs: text,
      events: Array.from({ length: 50 }, () => ({ time: null, type: 'Warning', reason: 'R', message: text, count: 9 })),
      pods: Array.from({ length: 50 }, () => ({ name: 'p'.repeat(253), phase: 'Failed', reason: text, node: 'n' })),
      changes: Array.from({ length: 100 }, () => ({ path: 'p'.repeat(200), before: 'b'.repeat(200), after: null })),
    },
    links: { runbook: `https://wiki.example.org/${'a|<b>'.repeat(400)}` },
  });
  const digest = aDigestMessage(900, {
    alerts: aDigestMessage(900).digest.alerts.map((alert) => ({ ...alert, name: 'n'.repeat(253) })),
  });
  return [
    anOutgoing({ message: { kind: 'firing', data } }),
    anOutgoing({ message: { kind: 'digest', data: digest } }),
    anOutgoing({ message: { kind: 'test', data: aTestMessage({ message: text }) } }),
  ];
}

function drillOf(news: DrillMessage['drill']['news']): DrillMessage {
  const drill = { ...aDrillMessage().drill, news };
  return aDrillMessage({ drill, links: { drill: null, channel: 'https://monitor.example.org/channels/team-chat' } });
}

function withoutRun(): ReturnType<typeof anAlertMessage> {
  return anAlertMessage({
    cluster: null,
    alert: {
      type: 'deadManTriggered',
      severity: 'critical',
      title: 'CRITICAL prod/nightly: no success for 26 h (limit 25 h)',
    },
    cronjob: { lastSuccess: null, nextRun: null, timezone: null },
    job: null,
    context: { suggestedFix: null, logs: null, logsTruncated: false, events: null, pods: null, changes: null },
    links: { cronjob: null, alert: null, execution: null },
  });
}
