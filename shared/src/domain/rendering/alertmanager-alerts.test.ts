import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Message } from '../delivery/message.ts';
import { aDigestMessage, anAlertMessage, anOutgoing, aTestMessage } from '../../testing/index.ts';
import * as fc from 'fast-check';
import { alertsOf, heldOpenMs, identityOf } from './alertmanager-alerts.ts';

const now = Date.UTC(2026, 10, 21, 1, 10);
const alertOf = (message: Message, form: 'full' | 'reduced' = 'full') =>
  alertsOf(anOutgoing({ message }), form, now)[0];
const firing = (changes: Parameters<typeof anAlertMessage>[0] = {}): Message => ({
  kind: 'firing',
  data: anAlertMessage(changes),
});

test('labels name what it is about, annotations say what happened', () => {
  const message = firing({
    cluster: 'eu',
    alert: { since: '2026-11-21T01:02:42.000Z', subject: 'finishBy' },
    context: { logs: 'no space left\n' },
  });
  const alert = alertOf(message);
  const { data } = message as { data: ReturnType<typeof anAlertMessage> };
  assert.deepEqual(alert?.labels, {
    alertname: 'JobFailed',
    source: 'cronjob-monitor-1f2e3d4c',
    cluster: 'eu',
    namespace: data.cronjob.namespace,
    cronjob: data.cronjob.name,
    severity: data.alert.severity,
    monitor: `${data.monitor.namespace}/${data.monitor.name}`,
    subject: 'finishBy',
  });
  const { summary, description, exit_code: exitCode, job, log, cause, scope } = alert.annotations;
  assert.deepEqual([cause, scope], ['capacity', 'namespace prod']);
  assert.deepEqual([summary, description], [data.alert.title, data.alert.message]);
  assert.deepEqual([exitCode, job], ['137', data.job?.name]);
  assert.match(log ?? '', /no space left$/);
  assert.deepEqual(
    [alert.startsAt, alert.endsAt],
    ['2026-11-21T01:02:42.000Z', new Date(now + heldOpenMs).toISOString()],
  );
});

test('a label names the owner, where an annotation says who that is', () => {
  const labelsOf = (owner?: string) => alertsOf(anOutgoing({ message: firing(), owner }), 'full', now)[0]?.labels ?? {};
  assert.equal(labelsOf('team-data')['owner'], 'team-data');
  assert.ok(!('owner' in labelsOf()) && !('owner' in labelsOf('')));
});

test('the reduced form keeps labels and summary alone', () => {
  assert.deepEqual(Object.keys(alertOf(firing(), 'reduced')?.annotations ?? {}), ['summary']);
  assert.deepEqual(alertOf(firing(), 'reduced')?.labels, alertOf(firing())?.labels);
});

for (const { says, endedAt, endsAt } of [
  { says: 'with the end of the alert', endedAt: '2026-11-21T01:06:00.000Z', endsAt: '2026-11-21T01:06:00.000Z' },
  { says: 'never before it began', endedAt: '2026-11-20T01:00:00.000Z', endsAt: '2026-11-21T01:02:42.000Z' },
  { says: 'never later than now', endedAt: '2026-11-21T02:00:00.000Z', endsAt: '2026-11-21T01:10:00.000Z' },
]) {
  test(`a closing ends ${says}`, () => {
    const data = anAlertMessage({ alert: { since: '2026-11-21T01:02:42.000Z', state: 'resolved', endedAt } });
    assert.equal(alertOf({ kind: 'closing', data })?.endsAt, endsAt);
  });
}

test('a test is an alert of its own that ends after a minute; a digest is none', () => {
  const alert = alertOf({ kind: 'test', data: aTestMessage() });
  assert.deepEqual([alert?.labels['alertname'], alert?.labels['severity']], ['ChannelTest', 'info']);
  assert.equal(Date.parse(alert?.endsAt ?? '') - Date.parse(alert?.startsAt ?? ''), 60_000);
  assert.equal(alertOf({ kind: 'digest', data: aDigestMessage(3) }), undefined);
});

test('a text that is cut says so', () => {
  const line = 'x'.repeat(5_000);
  const { annotations } = alertOf(
    firing({ alert: { message: line }, context: { logs: line, logsTruncated: false } }),
  ) ?? { annotations: {} };
  const { description = '', log = '' } = annotations as Record<string, string>;
  assert.equal(description, `${'x'.repeat(3_999)}…`);
  assert.ok(Buffer.byteLength(log) < 2_200 && log.startsWith('Earlier lines are left out.\n'), log.slice(0, 60));
});

test('whatever a run wrote, labels are the same and no text has control characters', () => {
  const wanted = identityOf(alertOf(firing())?.labels ?? {});
  const piece = fc.constantFrom(
    '\u001b[31m',
    '\u0000',
    '\u202e',
    '<b>',
    '{{ .Labels }}',
    '\n',
    '"',
    '\\',
    '漢',
    '😀',
    'x'.repeat(500),
  );
  fc.assert(
    fc.property(
      fc.array(piece, { maxLength: 60 }).map((pieces) => pieces.join('')),
      (text) => {
        const alert = alertOf(
          firing({ alert: { title: text, message: text }, context: { logs: text, suggestedFix: text } }),
        );
        assert.equal(identityOf(alert?.labels ?? {}), wanted);
        for (const said of Object.values(alert?.annotations ?? {}))
          assert.doesNotMatch(said, /[\u0000-\u0008\u000b-\u001f\u007f\u202a-\u202e]/); // oxlint-disable-line no-control-regex
        assert.ok(Buffer.byteLength(JSON.stringify(alert)) < 32 * 1024);
      },
    ),
    { numRuns: 100 },
  );
});
