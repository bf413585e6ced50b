import { toSections } from '../text.ts';
import { breakLinks, escapeText } from './escape.ts';
import { jsonBytes, takesOk, type ChatFormat } from './format.ts';

type Widget =
  | { readonly textParagraph: { readonly text: string } }
  | { readonly decoratedText: { readonly topLabel: string; readonly text: string; readonly wrapText: true } }
  | { readonly buttonList: { readonly buttons: readonly { readonly text: string; readonly onClick: OpenLink }[] } };

interface OpenLink {
  readonly openLink: { readonly url: string };
}

interface GoogleChatMessage {
  readonly cardsV2: readonly [
    {
      readonly cardId: string;
      readonly card: {
        readonly header?: { readonly title: string; readonly subtitle: string };
        readonly sections: readonly { readonly header?: string; readonly widgets: readonly Widget[] }[];
      };
    },
  ];
  readonly thread: { readonly threadKey: string };
}

/**
 * Google Chat, by the webhook of a space: one card, in the thread of its alert. A card mentions no user, and there is no other text. A
 * message may have 32,000 bytes. https://developers.google.com/workspace/chat/api/reference/rest/v1/cards
 */
export const googlechat: ChatFormat<GoogleChatMessage> = {
  gapMs: 1_000,
  budget: 24_000,
  sizeOf: jsonBytes,
  takes: takesOk,
  render(document, { streamId }) {
    const { title, state, message, facts, links, notes, origin } = document;
    const first: readonly Widget[] = [
      ...paragraph(message),
      ...facts.map(({ label, value }) => ({
        decoratedText: { topLabel: plain(label), text: plain(value), wrapText: true as const },
      })),
    ];
    const last: readonly Widget[] = [
      ...paragraph([...notes, origin.join(' · ')].filter((line) => line !== '').join('\n')),
      ...(links.length === 0
        ? []
        : [
            {
              buttonList: {
                buttons: links.map(({ text, href }) => ({ text: plain(text), onClick: { openLink: { url: href } } })),
              },
            },
          ]),
    ];
    const sections = [
      { widgets: first },
      ...toSections(document).map(({ heading, lines }) => ({ header: heading, widgets: paragraph(lines.join('\n')) })),
      { widgets: last },
    ].filter(({ widgets }) => widgets.length > 0);
    const header = title === '' ? {} : { header: { title: plain(title), subtitle: plain(state) } };
    return { cardsV2: [{ cardId: 'alert', card: { ...header, sections } }], thread: { threadKey: streamId } };
  },
  /** The same id on every attempt: a message that arrived is not shown twice. */
  address: (webhook, body, deliveryId) => {
    const url = new URL(webhook);
    url.searchParams.set('requestId', deliveryId);
    url.searchParams.set('messageReplyOption', 'REPLY_MESSAGE_FALLBACK_TO_NEW_THREAD');
    return { url, body };
  },
};

/** Text of a card is read as a little HTML. */
function plain(text: string): string {
  return escapeText(breakLinks(text));
}

function paragraph(text: string): Widget[] {
  return text.trim() === '' ? [] : [{ textParagraph: { text: plain(text) } }];
}
