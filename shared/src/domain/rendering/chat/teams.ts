import type { MessageDocument } from '../message-document.ts';
import { toSections } from '../text.ts';
import { jsonBytes, takesAny, type ChatFormat } from './format.ts';

interface Run {
  readonly type: 'TextRun';
  readonly text: string;
  readonly weight?: 'Bolder';
  readonly size?: 'Medium';
  readonly color?: 'Attention' | 'Warning' | 'Good' | 'Default';
  readonly fontType?: 'Monospace';
  readonly isSubtle?: true;
}

interface Paragraph {
  readonly type: 'RichTextBlock';
  readonly inlines: readonly Run[];
  readonly separator?: true;
}

interface TeamsMessage {
  readonly type: 'message';
  readonly attachments: readonly [
    {
      readonly contentType: 'application/vnd.microsoft.card.adaptive';
      readonly content: {
        readonly $schema: string;
        readonly type: 'AdaptiveCard';
        readonly version: '1.4';
        readonly body: readonly Paragraph[];
        readonly actions?: readonly { readonly type: 'Action.OpenUrl'; readonly title: string; readonly url: string }[];
        readonly msteams: { readonly width: 'Full' };
      };
    },
  ];
}

/**
 * Microsoft Teams, by a workflow or a webhook that takes one Adaptive Card. Only runs of a RichTextBlock hold text: nothing in them is
 * Markdown, and a mention needs an entity, which this never sends. A message may have 28 KB.
 * https://adaptivecards.io/explorer/RichTextBlock.html
 */
export const teams: ChatFormat<TeamsMessage> = {
  gapMs: 1_000,
  budget: 20_000,
  sizeOf: jsonBytes,
  takes: takesAny,
  render(document, { severity, isEnd }) {
    const { title, state, message, facts, links } = document;
    const color = isEnd ? 'Good' : ({ critical: 'Attention', warning: 'Warning', info: 'Default' } as const)[severity];
    const body = [
      paragraph(run(title, { weight: 'Bolder', size: 'Medium', color })),
      paragraph(run(state, { weight: 'Bolder' })),
      paragraph(run(message)),
      ...facts.map(({ label, value }) => paragraph(run(`${label}: `, { weight: 'Bolder' }), run(value))),
      ...toSections(document).flatMap(({ heading, lines, isOutput }) => [
        { ...paragraph(run(heading, { weight: 'Bolder' })), separator: true as const },
        paragraph(run(lines.join('\n'), isOutput ? { fontType: 'Monospace' } : {})),
      ]),
      paragraph(run(endingOf(document), { isSubtle: true })),
    ].filter(({ inlines }) => inlines.length > 0);
    const content = {
      $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
      type: 'AdaptiveCard',
      version: '1.4',
      body,
      ...(links.length > 0 && {
        actions: links.map(({ text, href }) => ({ type: 'Action.OpenUrl' as const, title: text, url: href })),
      }),
      msteams: { width: 'Full' },
    } as const;
    return { type: 'message', attachments: [{ contentType: 'application/vnd.microsoft.card.adaptive', content }] };
  },
};

function endingOf({ notes, origin }: MessageDocument): string {
  return [...notes, origin.join(' · ')].filter((line) => line !== '').join('\n');
}

/** Two braces begin a function such as DATE, also in a run: a blank of no width parts them. */
function run(text: string, looks: Omit<Run, 'type' | 'text'> = {}): Run {
  return { type: 'TextRun', text: text.replace(/\{(?=\{)/g, '{\u200b'), ...looks };
}

function paragraph(...inlines: readonly Run[]): Paragraph {
  return { type: 'RichTextBlock', inlines: inlines.filter(({ text }) => text.trim() !== '') };
}
