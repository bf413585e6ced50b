import { cutEnd, type Measure } from '../../text/cut.ts';
import { toSections } from '../text.ts';
import { escapeMarkdown, linkMarkdown, sectionMarkdown } from './escape.ts';
import { takesAny, type ChatFormat } from './format.ts';

interface DiscordMessage {
  readonly embeds: [
    {
      readonly title?: string;
      readonly description?: string;
      readonly color: number;
      readonly fields: { readonly name: string; readonly value: string; readonly inline: true }[];
      readonly footer?: { readonly text: string };
    },
  ];
  readonly allowed_mentions: { readonly parse: [] };
}

/** What the service takes of each part; in all it is 6,000. https://docs.discord.com/developers/resources/message#embed-object-embed-limits */
const most = { title: 256, description: 4_096, fields: 25, name: 256, value: 1_024, footer: 2_048 };
const budget = 5_000;

/** Discord, by the webhook of a channel: one embed, and the order to mention no user. */
export const discord: ChatFormat<DiscordMessage> = {
  gapMs: 2_000,
  budget,
  sizeOf: ({ embeds: [{ title = '', description = '', fields, footer }] }) => {
    const texts = [title, description, footer?.text ?? '', ...fields.flatMap(({ name, value }) => [name, value])];
    const isTooLong = description.length > most.description || fields.length > most.fields;
    return isTooLong ? Infinity : texts.reduce((total, text) => total + text.length, 0);
  },
  takes: takesAny,
  render(document, { severity, isEnd }) {
    const { state, message, facts, links, notes, origin } = document;
    const title = escapeMarkdown(document.title);
    const isLong = title.length > most.title;
    const description = [
      isLong ? `**${title}**` : '',
      state === '' ? '' : `**${escapeMarkdown(state)}**`,
      escapeMarkdown(message),
      ...toSections(document).map(sectionMarkdown),
      links.map(linkMarkdown).join(' · '),
    ]
      .filter((part) => part !== '')
      .join('\n');
    const footer = cutEnd([...notes, ...origin].join(' · '), most.footer);
    const color = isEnd ? 0x2e7d32 : { critical: 0xc62828, warning: 0xf9a825, info: 0x546e7a }[severity];
    const embed = {
      ...(title !== '' && !isLong && { title }),
      ...(description !== '' && { description }),
      color,
      fields: facts.map(({ label, value }) => ({
        name: escapeBeginning(label, most.name),
        value: escapeBeginning(value, most.value),
        inline: true as const,
      })),
      ...(footer !== '' && { footer: { text: footer } }),
    };
    return { embeds: [embed], allowed_mentions: { parse: [] } };
  },
};

/** One more for each that may get a sign before or after it. */
const asEscaped: Measure = (character) => character.length + (/[\p{L}\p{N}\s]/u.test(character) ? 0 : 1);

function escapeBeginning(text: string, limit: number): string {
  return escapeMarkdown(cutEnd(text, limit, asEscaped));
}
