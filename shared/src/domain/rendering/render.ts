import type { RenderedMessage } from '../../contract/index.ts';
import type { Message, Outgoing } from '../delivery/message.ts';
import { titleOfMessage } from '../delivery/title.ts';
import { alertmanagerPayload } from './alertmanager-alerts.ts';
import { chatPayload } from './chat/payload.ts';
import { emailPayload } from './email-payload.ts';
import { pagingPayload } from './paging-payload.ts';
import type { ChannelTarget } from './target.ts';
import { webhookPayload } from './webhook-payload.ts';

/**
 * The message as its channel sends it, for people who look at it: made by the functions that send. The key of a drill, which acknowledges
 * it, is left out; credentials are no part of a payload.
 */
export function renderMessage(given: Outgoing, target: ChannelTarget): RenderedMessage {
  const outgoing = { ...given, message: withoutKey(given.message) };
  const title = titleOfMessage(outgoing.message);
  const none = { html: null, blocks: null, body: null };
  switch (target.type) {
    case 'email': {
      const { subject, text, html } = emailPayload(outgoing, target, 'full');
      return { ...none, format: 'email', title: subject, text, html };
    }
    case 'paging': {
      const events = pagingPayload(outgoing, target, 'full');
      return { ...none, format: 'paging', title, text: linesOf(events).join('\n'), body: JSON.stringify(events) };
    }
    case 'webhook': {
      const { format } = target.webhook;
      const { body } =
        format === 'alertmanager'
          ? alertmanagerPayload(outgoing, 'full', outgoing.createdAt)
          : webhookPayload(outgoing, target, 'full');
      return { ...none, format, title, text: JSON.stringify(JSON.parse(body), null, 2), body };
    }
    default: {
      const { format } = target.chat;
      const payload = chatPayload(outgoing, target, 'full');
      const blocks = blocksOf(payload);
      const lines = linesOf(blocks ?? payload);
      const text = (format === 'slack' ? lines.map(withoutBold) : lines).join('\n');
      const isEscaped = format === 'slack' || format === 'googlechat';
      return {
        ...none,
        format,
        title,
        text: isEscaped ? unescapeText(text) : text,
        blocks,
        body: JSON.stringify(payload),
      };
    }
  }
}

function withoutKey(message: Message): Message {
  if (message.kind !== 'drill') return message;
  return { kind: 'drill', data: { ...message.data, links: { ...message.data.links, drill: null } } };
}

/** Where the chats have the parts of a message; null: it is text alone. */
function blocksOf(payload: object): readonly unknown[] | null {
  const parts = ['blocks', 'cardsV2', 'embeds', 'attachments'].map(
    (name) => (payload as Record<string, unknown>)[name],
  );
  return parts.find((part): part is unknown[] => Array.isArray(part)) ?? null;
}

/** `*Since*` above what it names, as `Since: …`; a longer text stays below its label. */
function withoutBold(text: string): string {
  return text.replace(/^\*([^*\n]+)\*\n(?=(.*)$)/s, (_, label: string, rest: string) =>
    rest.includes('\n') ? `${label}:\n` : `${label}: `,
  );
}

/** Fields that name a form, an address or an option, and that no reader sees. */
const unread =
  /^(?:type|url|href|id|cardId|color|style|size|weight|fontType|version|contentType|\$schema|chat_id|parse_mode|username|channel|width|event_action|dedup_key|client|client_url|click|fallback)$/;

/** Texts of a payload in their order, labels before what they name. */
function linesOf(value: unknown): string[] {
  if (typeof value === 'string') return value === '' ? [] : [value];
  if (Array.isArray(value)) return value.flatMap(linesOf);
  if (typeof value !== 'object' || value === null) return [];
  const fields = value as Readonly<Record<string, unknown>>;
  if (Array.isArray(fields['inlines'])) return [linesOf(fields['inlines']).join('')];
  const label = fields['topLabel'] ?? fields['name'] ?? fields['title'];
  const named = fields['value'] ?? (fields['topLabel'] === undefined ? undefined : fields['text']);
  if (label !== undefined && named !== undefined) return [`${linesOf(label).join(' ')}: ${linesOf(named).join(' ')}`];
  return Object.entries(fields).flatMap(([name, field]) => (unread.test(name) ? [] : linesOf(field)));
}

/** As a receiver shows what was escaped. */
function unescapeText(text: string): string {
  return text.replace(/&(?:lt|gt|amp);/g, (escaped) => (escaped === '&lt;' ? '<' : escaped === '&gt;' ? '>' : '&'));
}
