import assert from 'node:assert/strict';
import { test } from 'node:test';
import { aDigestMessage, anAlertMessage, anOutgoing, aTestMessage } from '../../../testing/index.ts';
import * as fc from 'fast-check';
import type { ChatTarget } from '../target.ts';
import { fit } from '../fit.ts';
import { toDocument } from '../message-document.ts';
import { chatPayload } from './payload.ts';
import { lengthOf, slack, type Block, type SlackMessage } from './slack.ts';

const target = (chat: Partial<ChatTarget['chat']> = {}): ChatTarget => ({
  type: 'chat',
  chat: {
    format: 'slack',
    webhookSecretRef: { namespace: 'n', name: 's', key: 'url' },
    defaultChannel: undefined,
    messageTemplate: undefined,
    ...chat,
  },
});

const payloadOf = (outgoing = anOutgoing(), chat: Partial<ChatTarget['chat']> = {}): SlackMessage =>
  chatPayload(outgoing, target(chat), 'full') as SlackMessage; // the format of the target
const firing = (changes: Parameters<typeof anAlertMessage>[0]): ReturnType<typeof anOutgoing> =>
  anOutgoing({ message: { kind: 'firing', data: anAlertMessage(changes) } });
const textsOf = (blocks: readonly Block[] = []): string[] =>
  blocks.flatMap((block) => {
    if (block.type === 'context') return block.elements.map(({ text }) => text);
    return 'fields' in block ? block.fields.map(({ text }) => text) : [block.text.text];
  });

test('the text stands alone: title, message, reason, fix and link', () => {
  assert.equal(
    payloadOf().text,
    [
      'WARNING prod/nightly: run failed, exit 137 (OOMKilled), 3rd in a row',
      'The run nightly-29107320 failed after 7 attempts.',
      'Exit code 137, OOMKilled',
      'Suggested fix: Raise the memory limit of nightly.',
      'https://monitor.example.org/alerts/019a5b3c-7d1e-7a40-8c11-2b5e9f3c21aa',
    ].join('\n'),
  );
});

test('blocks: header, facts, message, fix, log, events, pods, what changed, where it comes from', () => {
  const texts = textsOf(payloadOf(firing({ alert: { heldBy: 'rateLimit', heldSeconds: 700, delayed: true } })).blocks);
  assert.deepEqual(texts, [
    'WARNING prod/nightly: run failed, exit 137 (OOMKilled), 3rd in a row',
    '*Job*\nnightly-29107320',
    '*Exit code*\n137',
    '*Reason*\nOOMKilled',
    '*Cause*\ncapacity, namespace prod',
    '*Since*\n2026-11-19 02:02 Europe/Berlin',
    '*Last success*\n2026-11-18 02:02 Europe/Berlin',
    '*Next run*\n2026-11-22 02:00 Europe/Berlin',
    '*Count*\n3',
    'The run nightly-29107320 failed after 7 attempts.',
    '*Suggested fix*\nRaise the memory limit of nightly.',
    '*End of the log*\n```\nloading 3 files\nKilled\n```',
    '*About the log*\nEarlier lines are left out.',
    '*Events*\n```\n2026-11-21T01:02:30.000Z Warning BackOff: back-off restarting (2 times)\n```',
    '*Pods*\n```\nnightly-29107320-x7k2p Failed OOMKilled on node-3\n```',
    '*What changed*\n```\ncontainers.backup.image: backup:1.4 -&gt; backup:1.5\n```',
    '#9f3c21aa · monitor prod/backups · cluster prod-eu · <https://monitor.example.org/alerts/019a5b3c-7d1e-7a40-8c11-2b5e9f3c21aa|Alert> · <https://monitor.example.org/cronjobs/prod/nightly|CronJob> · <https://monitor.example.org/cronjobs/prod/nightly/executions/nightly-29107320|Run> · held back for 11 min: many at once · delayed: it happened while the service did not watch',
  ]);
});

test('a hold of a minute or less is not worth a word', () => {
  const texts = textsOf(payloadOf(firing({ alert: { heldBy: 'startupGrace', heldSeconds: 60 } })).blocks);
  assert.doesNotMatch(texts.join('\n'), /held back/);
});

test('what the alert has not is left out', () => {
  const { blocks, text } = payloadOf(
    firing({
      cluster: null,
      alert: { message: '', cause: null },
      job: null,
      cronjob: { lastSuccess: null, nextRun: null },
      context: { suggestedFix: null, logs: null, events: null, pods: null, changes: null },
      links: { alert: null, cronjob: null, execution: null },
    }),
  );
  assert.deepEqual(textsOf(blocks).slice(1), [
    '*Since*\n2026-11-19 02:02 Europe/Berlin',
    '*Count*\n3',
    '#9f3c21aa · monitor prod/backups',
  ]);
  assert.equal(text, 'WARNING prod/nightly: run failed, exit 137 (OOMKilled), 3rd in a row');
});

test('no user is mentioned and no link is hidden by texts of strangers', () => {
  const bad = '<!channel> <@U123> <https://evil.example.org|click> & ```';
  const payload = payloadOf(
    firing({
      alert: { title: bad, message: bad },
      job: { name: bad, reason: bad },
      context: {
        suggestedFix: bad,
        logs: bad,
        events: [{ time: null, type: bad, reason: bad, message: bad, count: 1 }],
      },
      links: { runbook: 'https://wiki.example.org/?a=1&b=<!channel>|x' },
    }),
  );
  for (const text of [payload.text, ...textsOf(payload.blocks)]) {
    assert.doesNotMatch(text, /<[!@#]|<https:\/\/evil/, text);
  }
  const [fence] = textsOf(payload.blocks).filter((text) => text.startsWith('*End of the log*'));
  assert.equal(
    fence,
    "*End of the log*\n```\n&lt;!channel&gt; &lt;@U123&gt; &lt;https://evil.example.org|click&gt; &amp; '\n```",
  );
  const [context] = textsOf(payload.blocks).filter((text) => text.includes('Runbook'));
  assert.match(context ?? '', /<https:\/\/wiki\.example\.org\/\?a=1&amp;b=%3C!channel%3E%7Cx\|Runbook>/);
});

test('markup is verbatim, so that no receiver makes links of words', () => {
  for (const block of payloadOf().blocks ?? []) {
    const markups = block.type === 'context' ? block.elements : 'fields' in block ? block.fields : [block.text];
    for (const markup of markups) assert.ok(markup.type === 'plain_text' || markup.verbatim);
  }
});

test('links of other kinds than http and https are left out', () => {
  const texts = textsOf(payloadOf(firing({ links: { runbook: 'javascript:alert(1)' } })).blocks);
  assert.doesNotMatch(texts.join('\n'), /javascript|Runbook/);
});

test('the reduced form is the text alone', () => {
  const reduced = chatPayload(
    anOutgoing(),
    target({ defaultChannel: '#ops', messageTemplate: '{{ .Alert.Title }}' }),
    'reduced',
  ) as SlackMessage;
  assert.deepEqual(Object.keys(reduced), ['text', 'channel', 'unfurl_links', 'unfurl_media']);
  assert.equal(reduced.text, payloadOf().text);
});

test('the channel is named when the spec names one; nothing is unfurled', () => {
  const { channel, unfurl_links, unfurl_media } = payloadOf(anOutgoing(), { defaultChannel: '#ops' });
  assert.deepEqual(
    { channel, unfurl_links, unfurl_media },
    { channel: '#ops', unfurl_links: false, unfurl_media: false },
  );
  assert.equal('channel' in payloadOf(anOutgoing(), { defaultChannel: '' }), false);
});

test('a template makes the text, values escaped and the template not', () => {
  const outgoing = firing({ alert: { title: '<!here>' }, context: { logs: 'a\n```b' } });
  const messageTemplate = '<!channel> {{ .Alert.Title }}\n```{{ .Context.Logs }}```';
  const payload = payloadOf(outgoing, { messageTemplate });
  assert.equal(payload.text, "<!channel> &lt;!here&gt;\n```a\n'b```");
  assert.equal(payload.blocks, undefined);
});

for (const messageTemplate of ['{{ .Nope }}', '{{ if .Name }}x', '  ', '{{ .Node }}']) {
  test(`the template ${JSON.stringify(messageTemplate)} says nothing usable: the message goes in the default form`, () => {
    const outgoing = anOutgoing({
      place: null,
      message: { kind: 'firing', data: anAlertMessage({ context: { pods: null } }) },
    });
    assert.deepEqual(payloadOf(outgoing, { messageTemplate }), payloadOf(outgoing));
  });
}

test('a digest names the first twenty and counts by type', () => {
  const { blocks, text } = payloadOf(anOutgoing({ message: { kind: 'digest', data: aDigestMessage(34) } }));
  const texts = textsOf(blocks);
  assert.equal(texts[0], 'WARNING alert storm: 34 alerts');
  assert.equal(texts[1], '*missed schedule, warning*\n34');
  const list = texts.find((one) => one.startsWith('*Alerts*\n'))?.split('\n') ?? [];
  assert.deepEqual([list.length, list.at(-1)], [22, 'and 14 more']);
  assert.match(text, /^WARNING alert storm: 34 alerts\nMany CronJobs/);
});

test('a test says so', () => {
  const { text } = payloadOf(anOutgoing({ message: { kind: 'test', data: aTestMessage() } }));
  assert.equal(
    text,
    'TEST of channel team-chat\nThis is a test of the channel team-chat.\nhttps://monitor.example.org/channels/team-chat',
  );
});

test('whatever the texts, every part keeps within its limit', () => {
  const anyText = fc.string({
    unit: fc.constantFrom('&', '<', '`', 'x', '\n', '😀', ' '),
    maxLength: 9_000,
    size: 'max',
  });
  fc.assert(
    fc.property(anyText, anyText, (one, other) => {
      const outgoing = firing({
        alert: { title: one, message: other },
        job: { name: one, reason: other },
        context: {
          suggestedFix: one,
          logs: other,
          events: Array.from({ length: 20 }, () => ({
            time: null,
            type: 'Warning',
            reason: 'R',
            message: one,
            count: 1,
          })),
        },
        links: { runbook: `https://wiki.example.org/${one.slice(0, 500)}` },
      });
      const { text, blocks = [] } = payloadOf(outgoing);
      // A title of nothing but signs that are escaped, whole.
      assert.ok(text.length <= 5_200);
      assert.ok(lengthOf(blocks) <= 9_000);
      for (const block of blocks) {
        if ('fields' in block) assert.ok(block.fields.length <= 10);
        const limit = block.type === 'header' ? 150 : 'fields' in block ? 2_000 : 3_000;
        for (const part of textsOf([block]))
          assert.ok(part.length <= limit && part.isWellFormed() && part !== '', `${block.type} ${part.length}`);
        for (const part of textsOf([block])) assert.doesNotMatch(part.replace(/&(?:amp|lt|gt);/g, ''), /&/);
      }
    }),
    { numRuns: 30, examples: [['&'.repeat(9_000), '`'.repeat(9_000)]] },
  );
});

test('when everything is as long as it may be, the log gives way, and says so', () => {
  const long = (length: number) => 'x'.repeat(length);
  const document = toDocument({ kind: 'firing', data: anAlertMessage() });
  const log = Array.from({ length: 900 }, (_, line) => `line ${line}`).join('\n');
  const full = { ...document, title: long(1_000), message: long(4_000), fix: long(2_000), log };
  const about = { room: undefined, streamId: 's', severity: 'warning', isEnd: false, standalone: '' } as const;
  const { blocks = [] } = fit(full, { ...slack, render: (part) => slack.render(part, about) });
  assert.ok(lengthOf(blocks) > 8_980 && lengthOf(blocks) <= 9_000);
  const texts = textsOf(blocks);
  assert.match(texts.find((text) => text.startsWith('*End of the log*')) ?? '', /line 899\n```$/);
  assert.ok(texts.includes('*About the log*\nEarlier lines are left out.'));
  assert.equal(texts.filter((text) => /^x+$/.test(text)).join('').length, 5_000, 'title and message are whole');
});

test('a text that no section takes goes on in the next, at the end of a line, and each fence is whole', () => {
  const line = `${'&'.repeat(40)}\``;
  const texts = textsOf(payloadOf(firing({ context: { logs: `${line}\n`.repeat(20), logsTruncated: false } })).blocks);
  const log = texts.filter((text) => text.includes('&amp;&amp;'));
  assert.deepEqual(log.length, 2);
  for (const part of log) assert.match(part, /^(\*End of the log\*\n)?```\n((&amp;){40}'\n)+```$/);
  assert.equal(log.join('').split("'\n").length - 1, 20);
});

test('of a log in a template so much is left out as does not fit, and it says so', () => {
  const logs = Array.from({ length: 900 }, (_, line) => `line ${line}`).join('\n');
  const messageTemplate = '{{ .Alert.Title }}\n{{ .Context.Logs }}\nSee {{ .Links.Alert }}';
  const { text } = payloadOf(firing({ context: { logs } }), { messageTemplate });
  assert.ok(text.length > 2_990 && text.length <= 3_000, String(text.length));
  assert.match(text, /^WARNING [^\n]*\nEarlier lines are left out\.\n[^]*line 899\nSee https:\S+$/);
});
