import { cutEnd, keepEnd, type Measure } from '@cronjob-monitor/shared/domain';

/**
 * The three characters with a meaning in the receiver's markup: escaped, no text of strangers can mention people or hide a link.
 * https://docs.slack.dev/messaging/formatting-message-text
 */
const escapes: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' };

export function escapeText(text: string): string {
  return text.replace(/[&<>]/g, (character) => escapes[character] ?? character);
}

/** Length of a character once it is escaped. */
const asEscaped: Measure = (character) => (escapes[character] ?? character).length;

/** The beginning of a text, escaped, in at most `limit` characters. */
export function escapeBeginning(text: string, limit: number): string {
  return escapeText(cutEnd(text, limit, asEscaped));
}

const fence = '```';
/** Fences with their line ends. */
const fenceLength = 2 * (fence.length + 1);

/** A fenced text of at most `limit` characters, fences included. Of a log the end is kept. */
export function fenced(text: string, limit: number, keep: 'beginning' | 'end'): string {
  const cut = keep === 'end' ? keepEnd : cutEnd;
  const inside = escapeText(cut(withoutBackticks(text).trimEnd(), limit - fenceLength, asEscaped));
  return `${fence}\n${inside}\n${fence}`;
}

/** Backticks could end a fence. */
export function withoutBackticks(text: string): string {
  return text.replace(/`+/g, "'");
}
