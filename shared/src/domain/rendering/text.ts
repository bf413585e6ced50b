import type { MessageDocument } from './message-document.ts';

/** The message as plain text, what matters most first. */
export function toText(document: MessageDocument): string {
  const { state, title, message, facts, links, notes, origin } = document;
  const width = Math.max(0, ...facts.map(({ label }) => label.length));
  const paragraphs = [
    state,
    title,
    message,
    facts.map(({ label, value }) => `${`${label}:`.padEnd(width + 2)}${value}`).join('\n'),
    ...toSections(document).map(({ heading, lines }) => [heading, ...lines].join('\n')),
    links.map(({ text, href }) => `${text}: ${href}`).join('\n'),
    [...notes, origin.join(', ')].filter((line) => line !== '').join('\n'),
  ];
  return `${paragraphs.filter((paragraph) => paragraph !== '').join('\n\n')}\n`;
}

/** A part of its own with a heading. */
export interface Section {
  readonly heading: string;
  readonly lines: readonly string[];
  /** In a fixed width: what programs wrote. */
  readonly isOutput: boolean;
}

/** In the order in which a reader needs them; what the message has not is left out. */
export function toSections({ alerts, fix, log, logNote, events, pods, changes }: MessageDocument): Section[] {
  const nothingChanged = ['Nothing has changed since the last success.'];
  const sections: Section[] = [
    { heading: 'Alerts', lines: alerts, isOutput: false },
    { heading: 'Suggested fix', lines: fix === '' ? [] : [fix], isOutput: false },
    { heading: 'End of the log', lines: log === '' ? [] : [log.trimEnd()], isOutput: true },
    { heading: 'About the log', lines: logNote === '' ? [] : [logNote], isOutput: false },
    { heading: 'Events', lines: events, isOutput: true },
    { heading: 'Pods', lines: pods, isOutput: true },
    { heading: 'What changed', lines: changes?.length === 0 ? nothingChanged : (changes ?? []), isOutput: true },
  ];
  return sections.filter(({ lines }) => lines.length > 0);
}
