import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { describe, test } from 'node:test';
import { chatFormats, type ChatFormat as FormatName } from '@cronjob-monitor/shared/contract';
import { chatPayload, chatServices, type Form, type Outgoing, toDocument } from '@cronjob-monitor/shared/domain';
import { aDigestMessage, anAlertMessage, anOutgoing, aTestMessage } from '@cronjob-monitor/shared/testing';
import type * as AdaptiveCards from 'adaptivecards';
import type { RESTPostAPIWebhookWithTokenJSONBody } from 'discord-api-types/v10';
import * as fc from 'fast-check';

// Its modules name no files, which only a bundler resolves; the bundle needs none.
const { AdaptiveCard, SerializationContext, Versions } = createRequire(import.meta.url)(
  'adaptivecards/dist/adaptivecards.js',
) as typeof AdaptiveCards;

const payloadOf = (
  format: FormatName,
  outgoing: Outgoing = anOutgoing(),
  { form = 'full', messageTemplate }: { form?: Form; messageTemplate?: string } = {},
): object => {
  const webhookSecretRef = { namespace: 'n', name: 's', key: 'url' };
  return chatPayload(
    outgoing,
    { type: 'chat', chat: { format, webhookSecretRef, defaultChannel: '-1001', messageTemplate } },
    form,
  );
};
const firing = (changes: Parameters<typeof anAlertMessage>[0]): Outgoing =>
  anOutgoing({ message: { kind: 'firing', data: anAlertMessage(changes) } });

const messages: Readonly<Record<string, Outgoing>> = {
  firing: anOutgoing(),
  closing: anOutgoing({ message: { kind: 'closing', data: anAlertMessage({ alert: { state: 'resolved' } }) } }),
  digest: anOutgoing({ message: { kind: 'digest', data: aDigestMessage(34) } }),
  test: anOutgoing({ message: { kind: 'test', data: aTestMessage() } }),
};

/** All texts that a reader sees, and with them keys and addresses. */
function textsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : [];
}

/** What the renderers put between characters so that receivers see no mention and no link. */
const withoutMarks = (text: string): string => text.replace(/\u200b|\\(?=[^\p{L}\p{N}\s])/gu, '');

describe('what a card of Teams is to its parser', () => {
  for (const [kind, outgoing] of Object.entries(messages)) {
    for (const form of ['full', 'reduced'] as const) {
      test(`${kind}, ${form}: a valid card of version 1.4 without a warning`, () => {
        const { attachments } = payloadOf('teams', outgoing, { form }) as {
          attachments: [{ contentType: string; content: object }];
        };
        assert.equal(attachments[0].contentType, 'application/vnd.microsoft.card.adaptive');
        const context = new SerializationContext(Versions.v1_4);
        const card = new AdaptiveCard();
        card.parse(attachments[0].content, context);
        const events = Array.from({ length: context.eventCount }, (_, at) => context.getEventAt(at).message);
        assert.deepEqual([...events, ...card.validateProperties().validationEvents.map((one) => one.message)], []);
        assert.ok(card.getItemCount() > 0);
      });
    }
  }
});

test('a message to Discord is what its API takes', () => {
  const about = { room: undefined, streamId: 's', severity: 'warning', isEnd: false, standalone: '' } as const;
  const rendered = chatServices.discord.render(toDocument(anOutgoing().message), about);
  const body: RESTPostAPIWebhookWithTokenJSONBody = rendered; // the types tell
  assert.deepEqual(body, payloadOf('discord'));
  assert.deepEqual(body.allowed_mentions, { parse: [] });
  const [embed] = body.embeds ?? [];
  assert.equal(embed?.title, 'WARNING prod/nightly: run failed, exit 137 \\(OOMKilled\\), 3rd in a row');
  assert.match(embed?.description ?? '', /\*\*End of the log\*\*\n```\nloading 3 files\nKilled\n```/);
  assert.equal(embed?.color, 0xf9a825);
});

test('a message to Telegram: ranges stand where they say, and none is empty', () => {
  for (const outgoing of Object.values(messages)) {
    const { chat_id, text, entities } = payloadOf('telegram', outgoing) as {
      chat_id: string;
      text: string;
      entities: { type: string; offset: number; length: number; url?: string }[];
    };
    assert.equal(chat_id, '-1001');
    for (const { type, offset, length, url } of entities) {
      const covered = text.slice(offset, offset + length);
      assert.ok(length > 0 && covered === covered.trim() && offset + length <= text.length, JSON.stringify(covered));
      assert.equal(type === 'text_link', url !== undefined);
    }
  }
  const { text, entities } = payloadOf('telegram') as {
    text: string;
    entities: { type: string; offset: number; length: number }[];
  };
  const preformatted = entities.filter(({ type }) => type === 'pre');
  assert.equal(text.slice(preformatted[0]?.offset).slice(0, preformatted[0]?.length), 'loading 3 files\nKilled');
});

test('ntfy: priorities follow the severity, and an end is quiet', () => {
  const priorityOf = (outgoing: Outgoing): unknown => (payloadOf('ntfy', outgoing) as { priority: number }).priority;
  assert.deepEqual(
    [firing({ alert: { severity: 'critical' } }), messages['firing'], messages['test'], messages['closing']].map(
      (one) => priorityOf(one ?? anOutgoing()),
    ),
    [5, 4, 3, 2],
  );
});

for (const format of chatFormats) {
  test(`${format}: title, message and link are all that the reduced form has`, () => {
    const all = withoutMarks(textsIn(payloadOf(format, anOutgoing(), { form: 'reduced' })).join('\n'));
    assert.match(all, /WARNING prod\/nightly: run failed/);
    assert.match(all, /failed after 7 attempts/);
    assert.match(all, /https:\/\/monitor\.example\.org\/alerts\//);
    assert.doesNotMatch(all, /loading 3 files|BackOff|cronjobs\/prod/);
  });

  test(`${format}: a template makes the message, and its values are safe`, () => {
    const outgoing = firing({ alert: { title: '<!here> @channel' } });
    const payload = payloadOf(format, outgoing, { messageTemplate: 'Look: {{ .Alert.Title }}' });
    const all = textsIn(payload).join('\n');
    assert.match(withoutMarks(all), /Look: (<|&lt;)!here(>|&gt;) @channel/);
    assert.doesNotMatch(all, /OOMKilled/);
    assert.doesNotMatch(readable(format, payload), forbidden[format]);
  });

  test(`${format}: what does not fit gives way from the log on, and the cut says so`, () => {
    const lines = Array.from({ length: 2_000 }, (_, at) => `line ${at}`).join('\n');
    const title = `the title ${'t'.repeat(240)} ends here`;
    const all = textsIn(payloadOf(format, firing({ alert: { title }, context: { logs: lines } }))).join('\n');
    assert.match(all, /ends here/);
    assert.match(all, /line 1999/);
    assert.match(all, /Raise the memory limit/);
    if (format === 'teams' || format === 'googlechat') return; // a log of 16 KiB fits
    assert.doesNotMatch(all, /line 100\b/);
    if (format !== 'slack') assert.match(all, /Earlier lines are left out/);
  });
}

/** Texts that would do something somewhere, and what they are made of. */
const hostile = fc
  .array(
    fc.oneof(
      fc.constantFrom(
        '@everyone',
        '@channel',
        '@here',
        '<!channel>',
        '<!here>',
        '<@U123>',
        '<@&42>',
        '<#77>',
        '<users/all>',
        '<at>all</at>',
        '<https://evil.example.org|click>',
        '[click](https://evil.example.org)',
        '![x](http://evil.example.org/x.png)',
        'https://evil.example.org/a',
        'www.evil.example.org',
        'mailto:a@evil.example.org',
        '<a href="https://evil.example.org">x</a>',
        '**bold**',
        '__under__',
        '~~gone~~',
        '||spoiler||',
        '`code`',
        '```',
        '````',
        '~~~',
        '# heading',
        '> quote',
        '- item',
        '1. item',
        '{{DATE(2026-11-21T01:02:03Z)}}',
        '{{{{',
        '${x}',
        ':smile:',
        '</start:1>',
        '/start',
        '#tag',
        '$USD',
        '&amp;',
        '&',
        '\\',
        '|',
        '"',
        "'",
        '\u001b[31m',
        '\u001b]0;title\u0007',
        '\u0000',
        '\u202e',
        '\r\n',
        '\n',
        '\t',
        ' ',
        '😀',
        '漢',
        '\ud800',
        '<',
        '>',
        'x',
      ),
      fc.string({ unit: 'binary', maxLength: 20 }),
      fc.constant('y'.repeat(5_000)),
    ),
    { maxLength: 40 },
  )
  .map((parts) => parts.join(''));

/** What must not be in the readable text of a format, wherever it came from. */
const forbidden: Readonly<Record<FormatName, RegExp>> = {
  slack: /<(?!\|(?:Alert|CronJob|Run|Runbook)>)/,
  teams: /\{\{/,
  googlechat: /<|&(?!(?:amp|lt|gt);)|:\/\/evil|www\.evil/,
  discord: /[_~`|<>[\]()]|(?<!\*)\*(?!\*)|:\/\/evil|www\.evil|@\w|^\s*(?:#|-|\d+\.) |:\w*[a-z]\w*:/m,
  mattermost: /[_~`|<>[\]()]|(?<!\*)\*(?!\*)|:\/\/evil|www\.evil|@\w|^\s*(?:#|-|\d+\.) |:\w*[a-z]\w*:/m,
  telegram: /@\w|:\/\/evil|(?<![\p{L}\p{N}_])[/#$][\p{L}\p{N}_]|evil\.example/u,
  ntfy: /:\/\/evil|www\.evil/,
};

/** The texts of strangers as a receiver reads them: without our links, fenced output, and signs that it shows as they are. */
function readable(format: FormatName, payload: object): string {
  if (format === 'telegram') {
    const { text, entities } = payload as {
      text: string;
      entities: { type: string; offset: number; length: number }[];
    };
    return entities
      .filter(({ type }) => type === 'pre')
      .reduceRight((left, { offset, length }) => left.slice(0, offset) + left.slice(offset + length), text);
  }
  const shown = format === 'discord' ? withoutFooter(payload) : payload;
  const all = textsIn(shown)
    .join('\n\n')
    .replace(/https:\/\/monitor\.example\.org\/[^\s|>)]*/g, '');
  if (format !== 'discord' && format !== 'mattermost') return all;
  return all
    .replace(/```\n[^]*?\n```/g, '')
    .replace(/\\[^\p{L}\p{N}\s]/gu, '·')
    .replace(/\[(?:Alert|CronJob|Run)\]\(\)/g, '');
}

/** A footer shows its text as it is. */
function withoutFooter(payload: object): object {
  const { embeds } = payload as { embeds: { footer?: unknown }[] };
  return embeds.map(({ footer: _footer, ...shown }) => shown);
}

const runs = Number(process.env['CHAT_TEXTS'] ?? 300);

for (const format of chatFormats) {
  test(`${format}: whatever a run says, nothing of it mentions, links or is markup, and the budget is kept`, () => {
    const { budget } = chatServices[format];
    fc.assert(
      fc.property(hostile, hostile, (one, other) => {
        const outgoing = firing({
          alert: { title: one, message: other },
          job: { name: one, reason: other },
          context: {
            suggestedFix: one,
            logs: other + one,
            events: [{ time: null, type: 'Warning', reason: other, message: one, count: 1 }],
          },
        });
        const payload = payloadOf(format, outgoing);
        assert.ok(
          chatServices[format].sizeOf(payload) <= budget,
          `${chatServices[format].sizeOf(payload)} of ${budget}`,
        );
        for (const text of textsIn(payload)) {
          assert.ok(text.isWellFormed());
          assert.doesNotMatch(text, /[^\P{Cc}\n\t]|[\u202a-\u202e\u2066-\u2069]/u);
        }
        assert.doesNotMatch(readable(format, payload), forbidden[format]);
        // Slack's marks work within a fence of Mattermost.
        if (format === 'mattermost') assert.doesNotMatch(textsIn(payload)[0] ?? '', /@\w|<[!@#\w]/);
        const text =
          format === 'mattermost'
            ? textsIn(payload)[0]
            : (payload as { embeds?: { description?: string }[] }).embeds?.[0]?.description;
        // A fence that a text opened or ended would leave an odd number of them.
        if (text !== undefined) assert.equal((text.match(/(?<!\\)```/g) ?? []).length % 2, 0);
      }),
      { numRuns: runs },
    );
  });
}

for (const format of chatFormats) {
  test(`${format}: of a log of any length the end is told line by line, and a cut says so`, () => {
    const shape = fc.record({ count: fc.integer({ min: 1, max: 900 }), width: fc.constantFrom(0, 40, 400) });
    fc.assert(
      fc.property(shape, ({ count, width }) => {
        const lines = Array.from({ length: count }, (_, at) => `line ${at} ${'z'.repeat(width)}`.trim());
        const payload = payloadOf(format, firing({ context: { logs: `${lines.join('\n')}\n`, logsTruncated: false } }));
        const all = textsIn(payload).join('\n');
        const told = new Set([...all.matchAll(/line (\d+)/g)].map(([, at]) => Number(at)));
        const first = Math.min(...told);
        assert.ok(told.has(count - 1), 'the last line is told');
        assert.equal(told.size, count - first, 'none is missing between');
        if (first > 0) assert.match(all, /Earlier lines are left out/);
        else assert.doesNotMatch(all, /Earlier lines are left out/);
      }),
      { numRuns: 60 },
    );
  });
}
