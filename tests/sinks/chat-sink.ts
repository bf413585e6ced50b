import { HttpSink, type Answering, type HttpSinkOptions } from './http-sink.ts';

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
export function startChatSink(options: HttpSinkOptions = {}): Promise<HttpSink> {
  return HttpSink.start({ answer: judgeMessage, ...options });
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
