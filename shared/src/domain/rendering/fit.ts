import { cutEnd, keepEnd } from '../text/cut.ts';
import type { MessageDocument } from './message-document.ts';

/** How a document becomes a body, and how large that may be, in the unit in which its receiver counts. */
export interface Fitting<Body> {
  render(document: MessageDocument): Body;
  sizeOf(body: Body): number;
  readonly budget: number;
}

/**
 * The body of the document, cut as little as its receiver asks for: the log gives way first, of which the end is kept, then events with
 * pods and changes, the fix, facts with links, the alerts of a digest, and last the message. The title stays whole. What is cut says so.
 */
export function fit<Body>(document: MessageDocument, fitting: Fitting<Body>): Body {
  const render = (part: MessageDocument): Body => fitting.render(part);
  const isSmall = (body: Body): boolean => fitting.sizeOf(body) <= fitting.budget;
  let cut = document;
  for (const part of parts) {
    const body = render(cut);
    if (isSmall(body)) return body;
    const whole = cut;
    const keep = (length: number): MessageDocument => ({ ...whole, ...part.keep(whole, length) });
    const fits = (length: number): boolean => isSmall(render(keep(length)));
    cut = keep(mostThat(fits, part.lengthOf(whole)));
  }
  return render(cut);
}

interface Part {
  lengthOf(document: MessageDocument): number;
  /** What changes when so much of it is kept. */
  keep(document: MessageDocument, length: number): Partial<MessageDocument>;
}

const parts: readonly Part[] = [
  {
    lengthOf: ({ log }) => log.length,
    keep: ({ log, logNote }, length) => {
      if (length >= log.length) return {};
      const end = keepEnd(log, length);
      return { log: end, logNote: end.trim() === '' ? logLeftOut : logCut(logNote) };
    },
  },
  listPart('events', 'events', 'end'),
  listPart('pods', 'pods', 'end'),
  listPart('changes', 'changes', 'beginning'),
  { lengthOf: ({ fix }) => fix.length, keep: ({ fix }, length) => ({ fix: cutEnd(fix, length) }) },
  countedPart('facts'),
  countedPart('links'),
  listPart('alerts', 'alerts', 'beginning'),
  { lengthOf: ({ message }) => message.length, keep: ({ message }, length) => ({ message: cutEnd(message, length) }) },
];

const logLeftOut = 'The log is left out: this channel takes no more text.';

function logCut(note: string): string {
  return note === '' ? 'Earlier lines are left out.' : note;
}

/** Lines of which some are kept; one line counts the others. */
function listPart(name: 'events' | 'pods' | 'changes' | 'alerts', label: string, kept: 'beginning' | 'end'): Part {
  return {
    lengthOf: (document) => document[name]?.length ?? 0,
    keep: (document, length) => {
      const lines = document[name] ?? [];
      const missing = lines.length - length;
      if (missing <= 0) return {};
      const says = `${missing} of ${lines.length} ${label} are left out.`;
      return { [name]: kept === 'end' ? [says, ...lines.slice(missing)] : [...lines.slice(0, length), says] };
    },
  };
}

function countedPart(name: 'facts' | 'links'): Part {
  return {
    lengthOf: (document) => document[name].length,
    keep: (document, length) => {
      const missing = document[name].length - length;
      if (missing <= 0) return {};
      return {
        [name]: document[name].slice(0, length),
        notes: [...document.notes, `${missing} of ${document[name].length} ${name} are left out.`],
      };
    },
  };
}

/** The largest number below `whole` for which it holds; 0 when for none. */
function mostThat(holds: (length: number) => boolean, whole: number): number {
  let low = 0;
  let high = whole;
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (holds(middle)) low = middle;
    else high = middle;
  }
  return low;
}
