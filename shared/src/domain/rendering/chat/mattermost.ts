import type { MessageDocument } from '../message-document.ts';
import { toSections } from '../text.ts';
import { escapeMarkdown, linkMarkdown, sectionMarkdown } from './escape.ts';
import { takesOk, type ChatFormat } from './format.ts';

interface MattermostMessage {
  readonly text: string;
  readonly channel?: string;
}

/**
 * Mattermost, by an incoming webhook: Markdown. It reads Slack's `<!channel>` and `<url|text>` too, before it reads Markdown, also within
 * a fence. A message may have 16,383 characters. https://developers.mattermost.com/integrate/webhooks/incoming/
 */
export const mattermost: ChatFormat<MattermostMessage> = {
  gapMs: 1_000,
  budget: 12_000,
  sizeOf: ({ text }) => text.length,
  takes: takesOk,
  render: (document, { room }) => ({
    text: markdownOf(document),
    ...(room !== undefined && room !== '' && { channel: room }),
  }),
};

function markdownOf(document: MessageDocument): string {
  const { title, state, message, facts, links, notes, origin } = document;
  return [
    title === '' ? '' : `**${escapeMarkdown(title)}**`,
    state === '' ? '' : `**${escapeMarkdown(state)}**`,
    escapeMarkdown(message),
    facts.map(({ label, value }) => `**${escapeMarkdown(label)}:** ${escapeMarkdown(value)}`).join('\n'),
    ...toSections(document).map(sectionMarkdown),
    links.map(linkMarkdown).join(' · '),
    escapeMarkdown([...notes, origin.join(' · ')].filter((line) => line !== '').join('\n')),
  ]
    .filter((part) => part !== '')
    .join('\n\n');
}
