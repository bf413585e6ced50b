import type { Instant } from '../instant.ts';
import { spanInWords } from '../delivery/wording.ts';
import type { Mute } from './holds.ts';

/** What is known of an alert as a channel is due that hears of it some time after the others. */
export interface RungFacts {
  /** Channels that were told before it, the first one first. */
  readonly told: readonly { readonly channel: string; readonly at: Instant }[];
  /** The last note that a person took of the alert; undefined: none. */
  readonly note: { readonly byWhom: string; readonly isInForce: boolean } | undefined;
  readonly unlessAcknowledged: boolean;
  readonly mute: Mute | undefined;
}

type RungAnswer =
  | { readonly kind: 'tell'; readonly words: string }
  | { readonly kind: 'hold'; readonly untilAt: Instant }
  | { readonly kind: 'acknowledged' };

/** A mute may end early: it is asked again at least so often. */
const askAgainMs = 60_000;

/** Whether the channel is told now, and what its message says of those that were told before. */
export function rungOf({ told, note, unlessAcknowledged, mute }: RungFacts, now: Instant): RungAnswer {
  if (note?.isInForce === true && unlessAcknowledged) return { kind: 'acknowledged' };
  if (mute) return { kind: 'hold', untilAt: Math.min(mute.untilAt, now + askAgainMs) };
  return { kind: 'tell', words: `${toldInWords(told, now)}; ${noteInWords(note)}.` };
}

const mostNamed = 3;

function toldInWords(told: RungFacts['told'], now: Instant): string {
  const named = told.slice(0, mostNamed).map(({ channel, at }, index) => {
    return `${channel} ${index === 0 ? 'was told ' : ''}${spanInWords(toNearest((now - at) / 1_000))} ago`;
  });
  if (named.length === 0) return 'No other channel has been told';
  return [...named, ...(told.length > mostNamed ? [`${told.length - mostNamed} more`] : [])].join(', ');
}

/** From here on a span is said without its seconds, which spanInWords cuts. */
const shownInMinutes = 300;

/** A message takes a moment to arrive: of a channel that hears ten minutes after the others they were told ten minutes ago, not nine. */
function toNearest(seconds: number): number {
  return seconds < shownInMinutes ? Math.round(seconds) : 60 * Math.round(seconds / 60);
}

function noteInWords(note: RungFacts['note']): string {
  if (note === undefined) return 'it was not acknowledged';
  return note.isInForce ? `${note.byWhom} acknowledged it` : `${note.byWhom} acknowledged it, and that has ended`;
}
