import type { Fact, FactName, MessageDocument } from '../message-document.ts';
import { escapeBeginning, escapeText, fenced } from './escape.ts';
import { takesAny, type ChatFormat } from './format.ts';

export interface SlackMessage {
  readonly text: string;
  readonly blocks?: readonly Block[];
  /** Newer webhooks ignore it. */
  readonly channel?: string;
  readonly unfurl_links: false;
  readonly unfurl_media: false;
}

/**
 * Slack's incoming webhooks. `text` says all that matters: a receiver that knows no blocks still gets the news.
 * https://docs.slack.dev/messaging/sending-messages-using-incoming-webhooks
 */
export const slack: ChatFormat<SlackMessage> = {
  gapMs: 1_000,
  budget: 9_000,
  sizeOf: ({ blocks = [] }) => lengthOf(blocks),
  takes: takesAny,
  render: (document, { room }) => ({ ...slackText(standaloneText(document), room), blocks: toBlocks(document) }),
};

/** A message of text alone: a template's, or the reduced form. */
export function slackText(text: string, room: string | undefined): SlackMessage {
  return {
    text,
    ...(room !== undefined && room !== '' && { channel: room }),
    unfurl_links: false,
    unfurl_media: false,
  };
}

/** Title, message, reason, fix and link, each on lines of its own. */
export function standaloneText({ title, message, facts, fix, links, alerts }: MessageDocument): string {
  const valueOf = (name: string): string => facts.find((fact) => fact.name === name)?.value ?? '';
  const reason = [valueOf('exitCode') && `Exit code ${valueOf('exitCode')}`, valueOf('reason')]
    .filter(Boolean)
    .join(', ');
  const link = escapeText(links[0]?.href ?? '');
  return [
    escapeBeginning(title, most.header * 2),
    escapeBeginning([message, ...alerts].filter(Boolean).join('\n'), 1_000),
    escapeBeginning(reason, 150),
    fix && escapeBeginning(`Suggested fix: ${fix}`, 1_000),
    link.length <= 540 ? link : '',
  ]
    .filter(Boolean)
    .join('\n');
}

/** The blocks that we write. https://docs.slack.dev/reference/block-kit/blocks */
export type Block =
  | { readonly type: 'header'; readonly text: PlainText }
  | { readonly type: 'section'; readonly text: Markup }
  | { readonly type: 'section'; readonly fields: readonly Markup[] }
  | { readonly type: 'context'; readonly elements: readonly Markup[] };

interface PlainText {
  readonly type: 'plain_text';
  readonly text: string;
  readonly emoji: false;
}

interface Markup {
  readonly type: 'mrkdwn';
  readonly text: string;
  /** Names and addresses in it are text, not links. */
  readonly verbatim: true;
}

/**
 * Characters of each part, in all below what receivers refuse: 150 in a header, 3,000 in a section, 2,000 in a field, and about
 * 13,200 in a message (https://github.com/slackapi/bolt-js/issues/2509).
 */
const most = {
  header: 150,
  fields: 8,
  field: 300,
  message: 1_500,
  fix: 1_500,
  log: 2_400,
  lines: 1_200,
  context: 600,
};

function toBlocks(document: MessageDocument): Block[] {
  const { title, message, facts, fix, log, events, pods, alerts } = document;
  const lines = [...pods, ...events];
  return [
    { type: 'header', text: { type: 'plain_text', text: escapeBeginning(title, most.header), emoji: false } },
    ...toFields(facts),
    ...toSection(message === '' ? '' : escapeBeginning(message, most.message)),
    ...toSection(alerts.length === 0 ? '' : escapeBeginning(alerts.map((line) => `• ${line}`).join('\n'), most.log)),
    ...toSection(fix === '' ? '' : labelled('Suggested fix', (limit) => escapeBeginning(fix, limit), most.fix)),
    ...toSection(log === '' ? '' : endOf(log)),
    ...toSection(
      lines.length === 0
        ? ''
        : labelled('Pods and events', (limit) => fenced(lines.join('\n'), limit, 'beginning'), most.lines),
    ),
    ...toContext(document),
  ];
}

/** Characters of all texts. */
export function lengthOf(blocks: readonly Block[]): number {
  const lengths = blocks.map((block) => {
    if (block.type === 'context') return sum(block.elements.map(({ text }) => text.length));
    return 'fields' in block ? sum(block.fields.map(({ text }) => text.length)) : block.text.text.length;
  });
  return sum(lengths);
}

/** What fits beside each other: exit code and reason are one field. */
function toFields(facts: readonly Fact[]): Block[] {
  const valueOf = (name: FactName): string | undefined => facts.find((fact) => fact.name === name)?.value;
  const exit = [valueOf('exitCode'), valueOf('reason')].filter((part) => part !== undefined);
  const shown: [string, string | undefined][] = [
    ['Since', valueOf('since')],
    ['Job', valueOf('job')],
    ['Exit code and reason', exit.length === 0 ? undefined : exit.join(', ')],
    ['Last success', valueOf('lastSuccess')],
    ['Next run', valueOf('nextRun')],
    ['Count', valueOf('count')],
    ...facts.flatMap(({ name, label, value }): [string, string][] => (name === 'group' ? [[label, value]] : [])),
  ];
  const fields = shown
    .flatMap(([label, value]) => (value === undefined ? [] : [field(label, value)]))
    .slice(0, most.fields);
  return fields.length === 0 ? [] : [{ type: 'section', fields }];
}

function field(label: string, value: string): Markup {
  return toMarkup(labelled(label, (limit) => escapeBeginning(value, limit), most.field));
}

/** Says when earlier lines are left out. */
function endOf(log: string): string {
  const whole = fenced(log, Infinity, 'end');
  const shown = labelled('End of the log', (limit) => fenced(log, limit, 'end'), most.log);
  if (shown.endsWith(whole)) return shown;
  return labelled('End of the log. Earlier lines are left out.', (limit) => fenced(log, limit, 'end'), most.log);
}

/** A bold label above a text; together within the limit. */
function labelled(label: string, text: (limit: number) => string, limit: number): string {
  const heading = `*${escapeText(label)}*\n`;
  return heading + text(limit - heading.length);
}

/** Part after part as long as there is room: what does not fit whole is left out. */
function toContext({ origin, notes, links }: MessageDocument): Block[] {
  const parts = [
    ...origin.map(escapeText),
    ...links.map(({ text, href }) => `<${escapeText(href)}|${escapeText(text)}>`),
    ...notes.map(escapeText),
  ];
  let text = '';
  for (const part of parts) {
    const longer = text === '' ? part : `${text} · ${part}`;
    if (longer.length <= most.context) text = longer;
  }
  return text === '' ? [] : [{ type: 'context', elements: [toMarkup(text)] }];
}

function toSection(text: string): Block[] {
  return text.trim() === '' ? [] : [{ type: 'section', text: toMarkup(text) }];
}

function toMarkup(text: string): Markup {
  return { type: 'mrkdwn', text, verbatim: true };
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
