import type { ChatFormat } from '@cronjob-monitor/shared/contract';
import { HttpSink, type Answering, type HttpReply, type HttpSinkOptions } from './http-sink.ts';

/** A block as far as its texts are counted. */
interface Block {
  readonly type: string;
  readonly text?: { readonly text: string };
  readonly fields?: readonly { readonly text: string }[];
  readonly elements?: readonly { readonly text: string }[];
}

/**
 * A chat service with incoming webhooks: it takes what the vendor takes, refuses with the vendor's words what it refuses.
 * https://docs.slack.dev/reference/block-kit/blocks, https://github.com/slackapi/bolt-js/issues/2509
 */
export function startChatSink(options: HttpSinkOptions = {}, format: ChatFormat = 'slack'): Promise<HttpSink> {
  return HttpSink.start({ answer: format === 'slack' ? judgeMessage : judges[format], ...options });
}

const judgeMessage: Answering = ({ body }) => {
  const problem = findProblem(body);
  return problem === undefined ? { body: 'ok' } : { status: 400, body: problem };
};

function findProblem(body: string): string | undefined {
  let message: { readonly text?: unknown; readonly blocks?: readonly Block[] };
  try {
    message = JSON.parse(body) as typeof message; // looked at field by field below
  } catch {
    return 'invalid_payload';
  }
  if (typeof message.text !== 'string' || message.text === '') return 'no_text';
  const { blocks = [] } = message;
  if (blocks.length > 50 || blocks.some(isInvalid)) return 'invalid_blocks';
  const length = blocks.flatMap(textsOf).reduce((sum, text) => sum + text.length, 0);
  return length > 13_200 ? 'msg_blocks_too_long' : undefined;
}

function isInvalid(block: Block): boolean {
  if (textsOf(block).some((text) => text === '')) return true;
  if (block.type === 'header') return (block.text?.text.length ?? 151) > 150;
  if (block.type === 'section') {
    const { fields = [] } = block;
    const isTooLong = (block.text?.text.length ?? 0) > 3_000 || fields.some(({ text }) => text.length > 2_000);
    return isTooLong || fields.length > 10 || (!block.text && fields.length === 0);
  }
  return block.type !== 'context' || (block.elements?.length ?? 11) > 10;
}

function textsOf({ text, fields = [], elements = [] }: Block): string[] {
  return [...(text ? [text] : []), ...fields, ...elements].map((one) => one.text);
}

type Json = Readonly<Record<string, unknown>>;

/** Bytes of a body, or units of a text, that the vendors take, and how they answer. */
const judges: Readonly<Record<Exclude<ChatFormat, 'slack'>, Answering>> = {
  // https://learn.microsoft.com/microsoftteams/platform/webhooks-and-connectors/how-to/add-incoming-webhook
  teams: judging(202, '', ({ attachments }, body) => {
    const [card] = Array.isArray(attachments) ? (attachments as Json[]) : [];
    return card?.['contentType'] === 'application/vnd.microsoft.card.adaptive' && Buffer.byteLength(body) <= 28_672;
  }),
  // https://developers.google.com/workspace/chat/api/reference/rest/v1/spaces.messages/create
  googlechat: judging(200, '{"name": "spaces/AAAA/messages/BBBB"}', ({ cardsV2 }, body, path) => {
    const { searchParams } = new URL(path, 'http://localhost');
    return Array.isArray(cardsV2) && searchParams.has('requestId') && Buffer.byteLength(body) <= 32_000;
  }),
  // https://docs.discord.com/developers/resources/message#embed-object-embed-limits
  discord: judging(204, '', ({ embeds }) => {
    type Embed = {
      title?: string;
      description?: string;
      footer?: { text: string };
      fields: { name: string; value: string }[];
    };
    const [{ title = '', description = '', footer, fields }] = embeds as [Embed];
    const texts = [title, description, footer?.text ?? '', ...fields.flatMap(({ name, value }) => [name, value])];
    return (
      title.length <= 256 &&
      description.length <= 4_096 &&
      fields.length <= 25 &&
      fields.every(({ name, value }) => name.length <= 256 && value.length <= 1_024 && name !== '' && value !== '') &&
      texts.join('').length <= 6_000
    );
  }),
  // https://developers.mattermost.com/integrate/webhooks/incoming/
  mattermost: judging(200, 'ok', ({ text }) => typeof text === 'string' && text !== '' && text.length <= 16_383),
  // https://core.telegram.org/bots/api#sendmessage
  telegram: judging(
    200,
    '{"ok": true, "result": {}}',
    ({ chat_id, text }, _body, path) =>
      typeof chat_id === 'string' && typeof text === 'string' && text.length <= 4_096 && path.endsWith('/sendMessage'),
  ),
  // https://docs.ntfy.sh/publish/#limitations
  ntfy: judging(
    200,
    '{"event": "message"}',
    ({ topic, message }, _body, path) =>
      typeof topic === 'string' &&
      typeof message === 'string' &&
      Buffer.byteLength(message) <= 4_096 &&
      new URL(path, 'http://localhost').pathname === '/',
  ),
};

function judging(
  status: number,
  answer: string,
  isGood: (json: Json, body: string, path: string) => boolean,
): Answering {
  return ({ body, path }): HttpReply => {
    try {
      if (isGood(JSON.parse(body) as Json, body, path)) return { status, body: answer };
    } catch {
      // What cannot be read is refused, as the vendors do.
    }
    return { status: 400, body: '{"ok": false}' };
  };
}
