import type { MessageDocument } from '../message-document.ts';
import { toSections } from '../text.ts';
import { breakLinks, breakMentions } from './escape.ts';
import type { ChatFormat } from './format.ts';
import { isObject, objectOf } from '../../json.ts';

interface Entity {
  readonly type: 'bold' | 'pre' | 'text_link';
  /** In units of UTF-16. */
  readonly offset: number;
  readonly length: number;
  readonly url?: string;
}

interface TelegramMessage {
  readonly chat_id: string;
  readonly text: string;
  readonly entities: readonly Entity[];
  readonly link_preview_options: { readonly is_disabled: true };
}

/**
 * Telegram, by the method sendMessage of a bot. Looks are ranges beside the text, so nothing in the text is markup; but names, addresses,
 * commands, tags and hosts in it become links by themselves, which a blank of no width within them keeps from happening. A text may have
 * 4,096 units of UTF-16. https://core.telegram.org/bots/api#sendmessage
 */
export const telegram: ChatFormat<TelegramMessage> = {
  gapMs: 3_000,
  budget: 4_000,
  sizeOf: ({ text }) => text.length,
  takes: ({ status, text }) => status === 200 && answerOf(text)['ok'] === true,
  patienceMsOf: (text) => {
    const parameters = answerOf(text)['parameters'];
    const seconds = isObject(parameters) ? parameters['retry_after'] : undefined;
    return typeof seconds === 'number' && seconds >= 0 ? seconds * 1_000 : undefined;
  },
  render: (document, { room = '' }) => ({
    chat_id: room,
    ...join(piecesOf(document)),
    link_preview_options: { is_disabled: true },
  }),
};

interface Piece {
  readonly text: string;
  readonly looks?: Pick<Entity, 'type' | 'url'>;
}

const bold = { type: 'bold' } as const;

function piecesOf(document: MessageDocument): Piece[] {
  const { title, state, message, facts, links, notes, origin } = document;
  const paragraphs: (readonly Piece[])[] = [
    [{ text: plain(title), looks: bold }],
    [{ text: plain(state), looks: bold }],
    [{ text: plain(message) }],
    [{ text: plain(facts.map(({ label, value }) => `${label}: ${value}`).join('\n')) }],
    ...toSections(document).map(({ heading, lines, isOutput }) => {
      const text = lines.join('\n').trim();
      const body: Piece = isOutput ? { text, looks: { type: 'pre' } } : { text: plain(text) };
      return [{ text: heading, looks: bold }, { text: '\n' }, body];
    }),
    links.flatMap(({ text, href }, index) => [
      { text: index === 0 ? '' : ' · ' },
      { text, looks: { type: 'text_link' as const, url: href } },
    ]),
    [{ text: plain([...notes, origin.join(' · ')].filter((line) => line !== '').join('\n')) }],
  ];
  return paragraphs
    .filter((pieces) => pieces.some(({ text }) => text.trim() !== ''))
    .flatMap((pieces, index) => (index === 0 ? pieces : [{ text: '\n\n' }, ...pieces]));
}

function join(pieces: readonly Piece[]): Pick<TelegramMessage, 'text' | 'entities'> {
  let all = '';
  const entities: Entity[] = [];
  for (const { text, looks } of pieces) {
    if (looks && text !== '') entities.push({ ...looks, offset: all.length, length: text.length });
    all += text;
  }
  return { text: all, entities };
}

/** A command, a tag of a topic or of a share, and a host name. */
const active = /(?<![\p{L}\p{N}_])[/#$](?=[\p{L}\p{N}_])|(?<=[\p{L}\p{N}-])\.(?=[\p{L}\p{N}])/gu;

function plain(text: string): string {
  return breakMentions(breakLinks(text.trim())).replace(active, '$&\u200b');
}

function answerOf(text: string): Readonly<Record<string, unknown>> {
  try {
    return objectOf(JSON.parse(text));
  } catch {
    return {};
  }
}
