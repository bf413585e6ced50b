import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { AlertMessage, Message, Outgoing } from '../delivery/message.ts';
import { aDigestMessage, anAlertMessage, anOutgoing, aTestMessage } from '../../testing/index.ts';
import * as fc from 'fast-check';
import type { PagingTarget } from './target.ts';
import { pagingPayload, type PagingEvent, type TriggerPayload } from './paging-payload.ts';

const target = (paging: Partial<PagingTarget['paging']> = {}): PagingTarget => ({
  type: 'paging',
  paging: {
    routingKeySecretRef: { namespace: 'n', name: 's', key: 'k' },
    severity: undefined,
    endpoint: undefined,
    ...paging,
  },
});
const eventsOf = (outgoing: Outgoing, paging: Partial<PagingTarget['paging']> = {}): readonly PagingEvent[] =>
  pagingPayload(outgoing, target(paging), 'full');
const of = (message: Message): Outgoing => anOutgoing({ message });

function triggerOf(outgoing: Outgoing, paging: Partial<PagingTarget['paging']> = {}): TriggerPayload {
  const [event] = eventsOf(outgoing, paging);
  assert.ok(event?.event_action === 'trigger');
  return event.payload;
}

test('an alert triggers an incident with all that is known', () => {
  assert.deepEqual(eventsOf(anOutgoing()), [
    {
      event_action: 'trigger',
      dedup_key: 'cjm-019a5b3c-7d1e-7a40-8c11-2b5e9f3c21aa',
      client: 'cronjob-monitor',
      client_url: 'https://monitor.example.org/alerts/019a5b3c-7d1e-7a40-8c11-2b5e9f3c21aa',
      links: [
        { href: 'https://monitor.example.org/cronjobs/prod/nightly', text: 'CronJob' },
        { href: 'https://monitor.example.org/cronjobs/prod/nightly/executions/nightly-29107320', text: 'Run' },
      ],
      payload: {
        summary: 'WARNING prod/nightly: run failed, exit 137 (OOMKilled), 3rd in a row',
        source: 'prod-eu/prod/nightly',
        severity: 'warning',
        timestamp: '2026-11-19T01:02:42.000Z',
        component: 'nightly',
        group: 'prod',
        class: 'jobFailed',
        custom_details: {
          message: 'The run nightly-29107320 failed after 7 attempts.',
          monitor: 'prod/backups',
          job: 'nightly-29107320',
          exit_code: 137,
          reason: 'OOMKilled',
          cause: 'capacity',
          scope: 'namespace prod',
          count: 3,
          last_success: '2026-11-18T01:02:00.000Z',
          suggested_fix: 'Raise the memory limit of nightly.',
          logs: 'loading 3 files\nKilled\n',
          logs_note: 'Earlier lines are left out.',
          events: ['2026-11-21T01:02:30.000Z Warning BackOff: back-off restarting (2 times)'],
        },
      },
    },
  ]);
});

/** What each kind does to the incident. */
const actions: { says: string; message: Message; does: string[] }[] = [
  { says: 'firing', message: { kind: 'firing', data: anAlertMessage() }, does: ['trigger'] },
  { says: 'reminder', message: { kind: 'reminder', data: anAlertMessage() }, does: ['trigger'] },
  { says: 'flapping', message: { kind: 'flapping', data: anAlertMessage() }, does: ['trigger'] },
  { says: 'update', message: { kind: 'update', data: anAlertMessage() }, does: ['trigger'] },
  { says: 'closing', message: { kind: 'closing', data: anAlertMessage() }, does: ['resolve'] },
  {
    says: 'over before it was told',
    message: { kind: 'closing', data: anAlertMessage({ alert: { state: 'resolved', firstNotice: true } }) },
    does: ['trigger', 'resolve'],
  },
  { says: 'storm', message: { kind: 'digest', data: aDigestMessage(3) }, does: ['trigger'] },
  {
    says: 'storm over, some left',
    message: { kind: 'digest', data: aDigestMessage(1, { ended: true }) },
    does: ['trigger'],
  },
  {
    says: 'storm over, none left',
    message: { kind: 'digest', data: aDigestMessage(0, { ended: true }) },
    does: ['resolve'],
  },
  { says: 'test', message: { kind: 'test', data: aTestMessage() }, does: ['trigger', 'resolve'] },
];

for (const { says, message, does } of actions) {
  test(`${says}: ${does.join(', ')}, by the key of the stream`, () => {
    const events = eventsOf(anOutgoing({ message, streamId: 'stream' }));
    assert.deepEqual(
      events.map(({ event_action }) => event_action),
      does,
    );
    assert.ok(events.every(({ dedup_key }) => dedup_key === 'cjm-stream'));
  });
}

test('a resolve is the key and nothing else', () => {
  const [event] = eventsOf(of({ kind: 'closing', data: anAlertMessage() }));
  assert.deepEqual(Object.keys(event ?? {}), ['event_action', 'dedup_key']);
});

test('the severity is the alert’s, or the one of the spec; a test is always info', () => {
  const critical = of({ kind: 'firing', data: anAlertMessage({ alert: { severity: 'critical' } }) });
  assert.equal(triggerOf(critical).severity, 'critical');
  assert.equal(triggerOf(critical, { severity: 'error' }).severity, 'error');
  assert.equal(triggerOf(of({ kind: 'test', data: aTestMessage() }), { severity: 'critical' }).severity, 'info');
  const counts = [{ type: 'deadManTriggered', severity: 'critical', count: 1 }] as const;
  assert.equal(triggerOf(of({ kind: 'digest', data: aDigestMessage(1, { counts }) })).severity, 'critical');
});

test('absent facts are left out; without a cluster the service is the source', () => {
  const data = anAlertMessage({
    cluster: null,
    alert: { cause: null, scope: null },
    job: null,
    cronjob: { lastSuccess: null },
    context: { suggestedFix: null, logs: null, events: null },
    links: { alert: null, cronjob: null, execution: null, runbook: 'ftp://x' },
  });
  const [event] = eventsOf(of({ kind: 'firing', data }));
  assert.ok(event?.event_action === 'trigger');
  assert.deepEqual(Object.keys(event), ['event_action', 'dedup_key', 'client', 'payload']);
  assert.deepEqual(Object.keys(event.payload.custom_details ?? {}), ['message', 'monitor', 'count']);
  assert.equal(event.payload.source, 'cronjob-monitor/prod/nightly');
});

test('the reduced form has no details', () => {
  const [event] = pagingPayload(anOutgoing(), target(), 'reduced');
  assert.ok(event.event_action === 'trigger');
  assert.equal('custom_details' in event.payload, false);
  assert.equal(event.payload.summary, triggerOf(anOutgoing()).summary);
});

test('what an event has no room for is named in it, and a log that is missing says why', () => {
  const detailsFor = (context: Partial<AlertMessage['context']>) =>
    triggerOf(of({ kind: 'firing', data: anAlertMessage({ context }) })).custom_details;
  const long = { time: null, type: 'Warning', reason: 'R', message: '漢'.repeat(1_024), count: 1 };
  const crowded = detailsFor({ events: Array.from({ length: 20 }, () => long) });
  assert.deepEqual([crowded?.['events'], crowded?.['left_out']], [undefined, 'events']);
  assert.equal(crowded?.['logs'], 'loading 3 files\nKilled\n');
  const missing = detailsFor({ logs: null, logsTruncated: false, logsUnavailable: 'the pod is gone' });
  assert.deepEqual([missing?.['logs'], missing?.['logs_note']], [undefined, 'No log: the pod is gone']);
});

test('whatever the texts, an event keeps within 64 KiB and its summary within 1,024 characters', () => {
  fc.assert(
    fc.property(
      fc.string({ unit: fc.constantFrom('"', '\\', 'x', '😀', '漢'), maxLength: 3_000, size: 'max' }),
      (text) => {
        const data = anAlertMessage({
          alert: { title: text, message: text },
          context: {
            suggestedFix: text,
            logs: text,
            events: Array.from({ length: 20 }, () => ({
              time: null,
              type: 'Warning',
              reason: text,
              message: text,
              count: 1,
            })),
          },
        });
        const event = JSON.stringify(eventsOf(of({ kind: 'firing', data }))[0]);
        assert.ok(Buffer.byteLength(event) <= 65_536);
        const { summary, custom_details: details } = triggerOf(of({ kind: 'firing', data }));
        assert.ok(summary.length <= 1_024 && summary.isWellFormed());
        assert.ok(Buffer.byteLength(String(details?.['logs'] ?? '')) <= 8_192);
      },
    ),
    { numRuns: 20, examples: [['漢'.repeat(5_000)], ['"'.repeat(20_000)]] },
  );
});
