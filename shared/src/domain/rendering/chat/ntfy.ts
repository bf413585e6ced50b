import { inBytes } from '../../text/cut.ts';
import { toText } from '../text.ts';
import { breakLinks } from './escape.ts';
import { takesOk, type ChatFormat } from './format.ts';

interface NtfyMessage {
  readonly title?: string;
  readonly message: string;
  readonly priority: 2 | 3 | 4 | 5;
  readonly click?: string;
}

/**
 * ntfy, by the address of a topic: JSON to the server's root, for text as a body has no safe place for a title. A message may have 4,096
 * bytes; a longer one becomes a file. https://docs.ntfy.sh/publish/#publish-as-json
 */
export const ntfy: ChatFormat<NtfyMessage> = {
  gapMs: 1_000,
  budget: 3_800,
  sizeOf: ({ title = '', message, click = '' }) => inBytes(title) + inBytes(message) + inBytes(click),
  takes: takesOk,
  render(document, { severity, isEnd }) {
    const title = breakLinks(document.title);
    const [first, ...others] = document.links;
    const text = toText({ ...document, title: '', links: [] }).trim();
    const more = others.map(({ text: name, href }) => `${name}: ${href}`).join('\n');
    const message = [breakLinks(text), more].filter((part) => part !== '').join('\n\n');
    return {
      ...(title !== '' && { title }),
      message,
      priority: isEnd ? 2 : ({ critical: 5, warning: 4, info: 3 } as const)[severity],
      ...(first && { click: first.href }),
    };
  },
  /** The topic is the end of the path; a credential in the query goes along. */
  address: (topic, body) => {
    const url = new URL('/', topic);
    const auth = topic.searchParams.get('auth');
    if (auth !== null) url.searchParams.set('auth', auth);
    return { url, body: { topic: topic.pathname.slice(topic.pathname.lastIndexOf('/') + 1), ...body } };
  },
};
