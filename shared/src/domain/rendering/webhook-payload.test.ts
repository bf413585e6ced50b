import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Message, Outgoing } from '../delivery/message.ts';
import { aDigestMessage, anAlertMessage, anOutgoing, aTestMessage } from '../../testing/index.ts';
import * as fc from 'fast-check';
import type { WebhookTarget } from './target.ts';
import { webhookPayload } from './webhook-payload.ts';

const target = (payloadTemplate?: string): WebhookTarget => ({
  type: 'webhook',
  webhook: {
    urlSecretRef: { namespace: 'n', name: 's', key: 'url' },
    format: 'standard',
    readSilences: true,
    method: 'POST',
    headers: {},
    payloadTemplate,
    signingSecretRef: undefined,
    sendUpdates: false,
  },
});
const bodyOf = (outgoing: Outgoing, payloadTemplate?: string): string =>
  webhookPayload(outgoing, target(payloadTemplate), 'full').body;
const of = (message: Message): Outgoing => anOutgoing({ message });
const closing = (alert: Parameters<typeof anAlertMessage>[0]): Outgoing =>
  of({ kind: 'closing', data: anAlertMessage(alert) });

test('the body is type, time of the decision and the model as it is', () => {
  assert.deepEqual(JSON.parse(bodyOf(anOutgoing())), {
    type: 'alert.firing',
    timestamp: '2026-11-21T01:02:43.000Z',
    data: anAlertMessage(),
  });
});

for (const [type, outgoing] of [
  ['alert.firing', of({ kind: 'firing', data: anAlertMessage() })],
  ['alert.reminder', of({ kind: 'reminder', data: anAlertMessage() })],
  ['alert.reminder', of({ kind: 'flapping', data: anAlertMessage() })],
  ['alert.updated', of({ kind: 'update', data: anAlertMessage() })],
  ['alert.resolved', closing({ alert: { state: 'resolved' } })],
  ['alert.expired', closing({ alert: { state: 'expired' } })],
  ['alert.digest', of({ kind: 'digest', data: aDigestMessage(3) })],
  ['channel.test', of({ kind: 'test', data: aTestMessage() })],
] as const) {
  test(`${outgoing.message.kind} is ${type}`, () => {
    const { type: said, data } = JSON.parse(bodyOf(outgoing)) as { type: string; data: unknown };
    assert.deepEqual([said, data], [type, outgoing.message.data]);
  });
}

test('the reduced form keeps what happened, without logs, events, pods and changes', () => {
  const { body } = webhookPayload(anOutgoing(), target('{"a": 1}'), 'reduced');
  const { data } = JSON.parse(body) as { data: ReturnType<typeof anAlertMessage> };
  const { context, ...others } = anAlertMessage();
  const { context: reduced, ...kept } = data;
  assert.deepEqual(kept, others);
  assert.deepEqual(
    Object.entries(reduced).filter(([, value]) => value !== null && value !== false),
    [['suggestedFix', context.suggestedFix]],
  );
});

test('a template fills string leaves, and the result is always JSON', () => {
  const outgoing = anOutgoing({
    message: { kind: 'firing', data: anAlertMessage({ alert: { title: 'a "b" \\ {{ .Namespace }}' } }) },
  });
  const template =
    '{"text": "{{ .Alert.Title }}!", "n": 1, "on": [true, null, "{{ .Node }}"], "{{ .Name }}": "{{ .Alert.Count }}"}';
  assert.deepEqual(JSON.parse(bodyOf(outgoing, template)), {
    text: 'a "b" \\ {{ .Namespace }}!',
    n: 1,
    on: [true, null, 'node-3'],
    '{{ .Name }}': '3',
  });
});

for (const template of ['{"a": "{{ .Nope }}"}', '{"a": "{{ if }}"}', '{"a": ', '', '   ']) {
  test(`the template ${JSON.stringify(template)} cannot be used: the default body goes`, () => {
    assert.equal(bodyOf(anOutgoing(), template), bodyOf(anOutgoing()));
  });
}

test('tests and digests fill templates too', () => {
  const template = '{"t": "{{ .Alert.Title }}", "m": "{{ .Alert.Message }}", "s": "{{ .Alert.Severity }}"}';
  assert.deepEqual(JSON.parse(bodyOf(of({ kind: 'test', data: aTestMessage() }), template)), {
    t: 'TEST of channel team-chat',
    m: 'This is a test of the channel team-chat.',
    s: 'info',
  });
  const digest = JSON.parse(bodyOf(of({ kind: 'digest', data: aDigestMessage(2) }), template)) as { t: string };
  assert.equal(digest.t, 'WARNING alert storm: 2 alerts');
});

test('the log is cut to 16 KiB, and further when the body would be too large', () => {
  const logsOf = (body: string): string =>
    (JSON.parse(body) as { data: { context: { logs: string } } }).data.context.logs;
  const long = of({ kind: 'firing', data: anAlertMessage({ context: { logs: 'x'.repeat(100_000) } }) });
  assert.equal(logsOf(bodyOf(long)).length, 16_384);
  const events = Array.from({ length: 20 }, () => ({
    time: null,
    type: 'Warning',
    reason: 'R',
    message: '漢'.repeat(900),
    count: 1,
  }));
  const crowded = of({ kind: 'firing', data: anAlertMessage({ context: { logs: 'x'.repeat(100_000), events } }) });
  assert.equal(logsOf(bodyOf(crowded)).length, 4_096);
});

test('a digest too large for a body names as many alerts as fit, and how many there are', () => {
  const data = aDigestMessage(500, { total: 800 });
  const { digest } = (JSON.parse(bodyOf(of({ kind: 'digest', data }))) as { data: typeof data }).data;
  assert.equal(digest.total, 800);
  assert.ok(digest.alerts.length >= 200 && digest.alerts.length < 500, `${digest.alerts.length} of 500`);
  assert.deepEqual(digest.alerts[0], data.digest.alerts[0]);
});

test('a template that makes too much is left for the default body', () => {
  const template = JSON.stringify({ a: '{{ .Alert.Message }}'.repeat(390) });
  const outgoing = of({ kind: 'firing', data: anAlertMessage({ alert: { message: 'x'.repeat(4_000) } }) });
  assert.equal(bodyOf(outgoing, template), bodyOf(outgoing));
});

test('whatever the texts, the body is JSON of at most 64 KiB, the same every time', () => {
  fc.assert(
    fc.property(
      fc.string({ unit: fc.constantFrom('"', '\\', 'x', '😀', '漢', '\n'), maxLength: 3_000, size: 'max' }),
      fc.boolean(),
      (text, withTemplate) => {
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
        const outgoing = of({ kind: 'firing', data });
        const template = withTemplate ? '{"l": "{{ .Context.Logs }}", "e": "{{ .Context.Events }}"}' : undefined;
        const body = bodyOf(outgoing, template);
        assert.ok(Buffer.byteLength(body) <= 65_536);
        assert.doesNotThrow(() => JSON.parse(body));
        assert.equal(bodyOf(outgoing, template), body);
      },
    ),
    {
      numRuns: 20,
      examples: [
        ['漢'.repeat(5_000), false],
        ['"'.repeat(20_000), true],
      ],
    },
  );
});
