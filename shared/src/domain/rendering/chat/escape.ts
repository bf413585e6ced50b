import type { Section } from '../text.ts';
/**
 * The three characters with a meaning in the receiver's markup: escaped, no text of strangers can mention people or hide a link.
 * https://docs.slack.dev/messaging/formatting-message-text
 */
const escapes: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' };

export function escapeText(text: string): string {
  return text.replace(/[&<>]/g, (character) => escapes[character] ?? character);
}

const fence = '```';

/** Backticks could end a fence. */
export function withoutBackticks(text: string): string {
  return text.replace(/`+/g, "'");
}

/** A blank of no width: what it stands in is no name, no address and no command to any receiver, and reads as before. */
const apart = '\u200b';

/** Addresses stay text where a receiver makes links of words. */
export function breakLinks(text: string): string {
  return text.replace(/:(?=\/\/)|(?<=www)(?=\.)|(?<=mailto):/gi, `$&${apart}`);
}

/** Names after an at sign, and Slack's marks in angle brackets, stay text. */
export function breakMentions(text: string): string {
  return text.replace(/@|<(?=[!@#\w])/g, `$&${apart}`);
}

/** Text as Markdown that shows just this: no looks, links, lists, quotes, headings or pictures for words between colons. */
export function escapeMarkdown(text: string): string {
  return breakMentions(breakLinks(text))
    .replace(/[\\`*_~|[\]()<>#]/g, '\\$&')
    .replace(/^(\s*)([-+=])/gm, '$1\\$2')
    .replace(/^(\s*\d+)\./gm, '$1\\.')
    .replace(/:(?=[\w+-]*[a-z])/gi, `:${apart}`);
}

/** Output of programs in a fence that it cannot end. */
function markdownFence(text: string): string {
  return `${fence}\n${breakMentions(withoutBackticks(text).trimEnd())}\n${fence}`;
}

/** A section under its heading; output in a fence. */
export function sectionMarkdown({ heading, lines, isOutput }: Section): string {
  const text = lines.join('\n');
  return `**${heading}**\n${isOutput ? markdownFence(text) : escapeMarkdown(text)}`;
}

/** One of our links. */
export function linkMarkdown({ text, href }: { readonly text: string; readonly href: string }): string {
  const url = href.replace(/[()<>[\]\\*_~@]/g, (character) => `%${character.charCodeAt(0).toString(16)}`);
  return `[${escapeMarkdown(text)}](${url})`;
}
