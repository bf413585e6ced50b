import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { chatFormats } from '../../contract/index.ts';
import { anAlertMessage, anOutgoing, type AlertMessageChanges } from '../../testing/index.ts';
import { renderMessage } from './render.ts';
import type { ChannelTarget } from './target.ts';

const secret = { namespace: 'ops', name: 'receiver', key: 'url' };
const webhook = (format: 'standard' | 'alertmanager'): ChannelTarget => ({
  type: 'webhook',
  webhook: {
    urlSecretRef: secret,
    format,
    readSilences: true,
    method: 'POST',
    headers: {},
    payloadTemplate: undefined,
    signingSecretRef: undefined,
    sendUpdates: false,
  },
});
const targets: readonly ChannelTarget[] = [
  ...chatFormats.map((format) => ({
    type: 'chat' as const,
    chat: { format, webhookSecretRef: secret, defaultChannel: '-1001', messageTemplate: undefined },
  })),
  { type: 'paging', paging: { routingKeySecretRef: secret, severity: undefined, endpoint: undefined } },
  {
    type: 'email',
    email: {
      smtpSecretRef: secret,
      from: 'monitor@example.org',
      to: ['team@example.org'],
      tls: 'required',
      subjectTemplate: undefined,
      bodyTemplate: undefined,
    },
  },
  webhook('standard'),
  webhook('alertmanager'),
];

/** Where a text of strangers stands in a message, and from which side it is cut. */
const places: Readonly<Record<string, { readonly of: (text: string) => AlertMessageChanges; readonly keeps: Side }>> = {
  title: { of: (title) => ({ alert: { title } }), keeps: 'beginning' },
  message: { of: (message) => ({ alert: { message } }), keeps: 'beginning' },
  reason: { of: (reason) => ({ job: { reason } }), keeps: 'beginning' },
  fix: { of: (suggestedFix) => ({ context: { suggestedFix } }), keeps: 'beginning' },
  log: { of: (logs) => ({ context: { logs, logsTruncated: false } }), keeps: 'end' },
  event: {
    of: (message) => ({ context: { events: [{ time: null, type: 'Warning', reason: 'R', message, count: 1 }] } }),
    keeps: 'beginning',
  },
  pod: {
    of: (reason) => ({ context: { pods: [{ name: 'p', phase: 'Failed', reason, node: 'n' }] } }),
    keeps: 'beginning',
  },
  change: {
    of: (after) => ({ context: { changes: [{ path: 'containers.main.args', before: 'a', after }] } }),
    keeps: 'beginning',
  },
};
type Side = 'beginning' | 'end';

/** What a medium does not show by itself: its links lead there. */
const unshown: Readonly<Record<string, readonly string[]>> = {
  paging: ['pod', 'change'],
  alertmanager: ['event', 'pod', 'change'],
};

const marks = [
  '@everyone',
  '@channel',
  '<!here>',
  '<@U123>',
  '<users/all>',
  '<at>all</at>',
  '[click](https://evil.example.org)',
  '<a href="https://evil.example.org">',
  '**',
  '__',
  '~~',
  '||',
  '```',
  '`',
  '{{DATE(2026-11-21T01:02:03Z)}}',
  '{{ .Labels }}',
  '&amp;',
  '\\',
  '"',
  "'",
  '\u001b[31m',
  '\u001b]0;title\u0007',
  '\u0000',
  '\u202e',
  '\t',
  '😀',
  '\ud800',
] as const;

const word = (at: number): string => `w${at}w`;
/** Numbered words with marks of every chat between them. */
function hostileText(count: number): string {
  return Array.from({ length: count }, (_, at) => `${word(at)} ${marks[at % marks.length]} `).join('');
}

/** All that a receiver gets, however it is escaped. */
function sentTo(target: ChannelTarget, changes: AlertMessageChanges): string[] {
  const quiet = { logs: 'end', logsTruncated: false, events: [], pods: [], changes: [], suggestedFix: 'Do it.' };
  const context = { ...quiet, ...changes.context };
  const outgoing = anOutgoing({ message: { kind: 'firing', data: anAlertMessage({ ...changes, context }) } });
  const { body, text, html } = renderMessage(outgoing, target);
  if (body === null) return [text, html ?? ''];
  return [textsIn(JSON.parse(body)).join('\n')];
}

function textsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, one]) =>
    one === true && name.endsWith('Truncated') ? ['left out'] : textsIn(one),
  );
}

for (const target of targets) {
  const format =
    target.type === 'chat' ? target.chat.format : target.type === 'webhook' ? target.webhook.format : target.type;
  describe(`texts of strangers to ${format}`, () => {
    if (!unshown[format]?.includes('event'))
      test('of more events than a message carries the newest are told, and that there were others', () => {
        const events = Array.from({ length: 30 }, (_, at) => ({
          time: null,
          type: 'Normal',
          reason: 'R',
          message: word(at),
          count: 1,
        }));
        for (const sent of sentTo(target, { context: { events } })) {
          const told = events.map(({ message }) => sent.includes(message));
          assert.deepEqual(
            told,
            events.map((_, at) => at >= 30 - told.filter(Boolean).length),
          );
          assert.ok(told.filter(Boolean).length >= 10);
          assert.match(sent, /left out/);
        }
      });

    if (!unshown[format]?.includes('pod'))
      test('of more pods than a message carries it says that there were others', () => {
        const pods = Array.from({ length: 30 }, (_, at) => ({
          name: word(at),
          phase: 'Failed',
          reason: null,
          node: null,
        }));
        for (const sent of sentTo(target, { context: { pods } })) {
          const told = pods.filter(({ name }) => sent.includes(name));
          assert.ok(told.length >= 10 && told.length <= 20 && told.at(-1) === pods.at(-1), sent);
          assert.match(sent, /left out/);
        }
      });

    for (const [place, { of, keeps }] of Object.entries(places)) {
      if (unshown[format]?.includes(place)) continue;

      test(`${place}: of a short one with marks of every chat no word is lost, and nothing is said to be`, () => {
        for (const sent of sentTo(target, of(hostileText(marks.length)))) {
          const lost = Array.from({ length: marks.length }, (_, at) => word(at)).filter((one) => !sent.includes(one));
          assert.deepEqual(lost, []);
          assert.doesNotMatch(sent, /…|left out/);
        }
      });

      for (const [says, text] of [
        ['a line of 5,000 characters', hostileText(5_000).slice(0, 5_000)],
        [
          'ten lines of 5,000 characters',
          hostileText(50_000)
            .slice(0, 50_000)
            .replaceAll(/.{4999}/gsu, '$&\n'),
        ],
        ['what is almost all control sequences', `${word(0)} ${'\u001b[31m'.repeat(20_000)} ${word(1)}`],
      ] as const)
        test(`${place}: of ${says} the ${keeps} is kept, and the cut says so`, () => {
          const words = [...text.matchAll(/w(\d+)w/g)].map(([one]) => one);
          for (const sent of sentTo(target, of(text))) {
            const isKept = words.map((one) => sent.includes(one));
            const count = isKept.filter(Boolean).length;
            const kept = keeps === 'end' ? isKept.slice(words.length - count) : isKept.slice(0, count);
            assert.ok(count > 0, 'something of it is told');
            assert.ok(kept.every(Boolean), 'nothing is missing between');
            if (count < words.length) assert.match(sent, /…|left out/);
          }
        });
    }
  });
}
