import { cutEnd } from '../../text/cut.ts';
import { fit } from '../fit.ts';
import type { MessageDocument } from '../message-document.ts';
import { toSections } from '../text.ts';
import { escapeText, withoutBackticks } from './escape.ts';
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
  render: (document, { room, standalone }) => ({ ...slackText(standalone, room), blocks: toBlocks(document) }),
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
export function standaloneText(document: MessageDocument): string {
  const said = { ...document, log: '', events: [], pods: [], changes: [] };
  return fit(said, { render: toStandalone, sizeOf: ({ length }) => length, budget: most.text });
}

function toStandalone({ title, message, facts, fix, links, alerts }: MessageDocument): string {
  const valueOf = (name: string): string => facts.find((fact) => fact.name === name)?.value ?? '';
  const exit = [valueOf('exitCode') && `Exit code ${valueOf('exitCode')}`, valueOf('reason')].filter(Boolean);
  const lines = [title, message, ...alerts, exit.join(', '), fix && `Suggested fix: ${fix}`, links[0]?.href ?? ''];
  return escapeText(lines.filter(Boolean).join('\n'));
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
 * What receivers take of each part; about 13,200 characters in a message (https://github.com/slackapi/bolt-js/issues/2509). An escaped
 * character is up to five of a value.
 */
const most = { header: 150, fields: 10, value: 380, text: 3_000 };

function toBlocks(document: MessageDocument): Block[] {
  const { message, facts } = document;
  const title = escapeText(document.title);
  const shown = facts.filter(({ name }) => name !== 'namespace' && name !== 'cronjob');
  const fields = shown.map(({ label, value }) =>
    toMarkup(`*${escapeText(label)}*\n${escapeText(cutEnd(value, most.value))}`),
  );
  return [
    ...(title.length > most.header
      ? toTexts('', document.title, false)
      : [{ type: 'header' as const, text: { type: 'plain_text' as const, text: title, emoji: false as const } }]),
    ...[fields.slice(0, most.fields), fields.slice(most.fields)]
      .filter((some) => some.length > 0)
      .map((some) => ({ type: 'section' as const, fields: some })),
    ...toTexts('', message, false),
    ...toSections(document).flatMap(({ heading, lines, isOutput }) => toTexts(heading, lines.join('\n'), isOutput)),
    ...toContext(document),
  ];
}

/** Characters of all texts. */
export function lengthOf(blocks: readonly Block[]): number {
  const texts = blocks.flatMap((block): readonly { readonly text: string }[] => {
    if (block.type === 'context') return block.elements;
    return 'fields' in block ? block.fields : [block.text];
  });
  return texts.reduce((total, { text }) => total + text.length, 0);
}

/** A text below its heading, in as many sections as it needs. */
function toTexts(heading: string, text: string, isOutput: boolean): Block[] {
  const label = heading && `*${heading}*\n`;
  const [before, after] = isOutput ? ['```\n', '\n```'] : ['', ''];
  const limit = most.text - label.length - before.length - after.length;
  return piecesOf(isOutput ? withoutBackticks(text) : text, limit).map((piece, index) =>
    toSection(`${index === 0 ? label : ''}${before}${piece.trimEnd()}${after}`),
  );
}

/** A text, escaped, in pieces of at most so many characters: at ends of lines where there are some. */
function piecesOf(text: string, limit: number): string[] {
  const pieces: string[] = [];
  for (let rest = escapeText(text); rest !== '';) {
    // Without half of a character at its end.
    const room = rest.length <= limit ? rest : rest.slice(0, limit).replace(/(?:&\w*|[\ud800-\udbff])$/, '');
    const end = room === rest ? rest.length : room.lastIndexOf('\n') + 1 || room.length;
    pieces.push(rest.slice(0, end));
    rest = rest.slice(end);
  }
  return pieces.filter((piece) => piece.trim() !== '');
}

/** Where it comes from, and where to go. */
function toContext({ origin, notes, links }: MessageDocument): Block[] {
  const anchors = links.map(({ text, href }) => `<${escapeText(href)}|${escapeText(text)}>`);
  const texts: string[] = [];
  for (const part of [...origin.map(escapeText), ...anchors, ...notes.map(escapeText)]) {
    const joined = [...texts.slice(-1), part].join(' · ');
    if (joined.length <= most.text) texts.splice(-1, 1, joined);
    else texts.push(part);
  }
  const elements = texts.filter(({ length }) => length <= most.text).map(toMarkup);
  return elements.length === 0 ? [] : [{ type: 'context', elements }];
}

function toSection(text: string): Block {
  return { type: 'section', text: toMarkup(text) };
}

function toMarkup(text: string): Markup {
  return { type: 'mrkdwn', text, verbatim: true };
}
