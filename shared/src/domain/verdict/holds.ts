import type { VerdictHold, VerdictHoldKind } from '../../contract/index.ts';
import { toldWords, wordOfReason, type ToldReason } from '../../contract/vocabulary.ts';
import type { Instant } from '../instant.ts';
import { instantIn } from '../delivery/wording.ts';

/** What keeps back messages about one alert now. */
interface HoldFacts {
  readonly acknowledged: { readonly by: string; readonly untilAt: Instant | undefined } | undefined;
  /** In force now, whatever was told before it began. */
  readonly silence: { readonly by: string; readonly untilAt: Instant; readonly endsWithCause: boolean } | undefined;
  readonly maintenance: { readonly untilAt: Instant | undefined } | undefined;
  /** Why its message is held or waits, and how many of its channels `heard`: `1 of 2 channels`; undefined: it does neither. */
  readonly told:
    | { readonly reason: ToldReason | null; readonly untilAt: Instant | undefined; readonly heard: string | undefined }
    | undefined;
}

/** What a message waits for that has none of the four words. */
const waits: Readonly<Partial<Record<ToldReason, string>>> = {
  startupGrace: 'Waits for the start',
  backoff: 'Waits: the channel did not answer',
  circuit: 'Waits: the channel rests',
  parked: 'Parked until its channel is mended',
  invalid: 'Its channel is not usable',
  order: 'Waits for an earlier message',
  after: 'Waits for its turn',
  alertDelay: 'Waits',
};

const ofChannel: ReadonlySet<ToldReason> = new Set(['backoff', 'circuit', 'parked', 'invalid']);

/** Each hold in force as a chip, the ones that a person asked for first. */
export function holdsOf({ acknowledged, silence, maintenance, told }: HoldFacts): VerdictHold[] {
  const chips: VerdictHold[] = [];
  if (acknowledged)
    chips.push(chip('acknowledged', `Acknowledged by ${acknowledged.by}`, acknowledged.untilAt, acknowledged.by));
  if (silence) chips.push(silenceChip(silence));
  if (maintenance) chips.push(chip('maintenance', toldWords.maintenance, maintenance.untilAt, undefined));
  if (told?.reason == null) return chips;
  const word = wordOfReason[told.reason];
  // An owner mutes without a silence that stands in a list: by the annotation of the CronJob or its Namespace.
  if (word === 'silenced' && !silence) chips.push(chip(word, toldWords[word], told.untilAt, undefined));
  // The other holds of a person stand by themselves.
  if (word === 'alreadyTold' || word === 'manyAtOnce') chips.push(chip(word, toldWords[word], told.untilAt, undefined));
  const waitsFor = told.heard !== undefined && ofChannel.has(told.reason) ? `${told.heard} told` : waits[told.reason];
  if (waitsFor !== undefined) chips.push(chip('waits', waitsFor, told.untilAt, undefined));
  return chips;
}

/** One that ends with what it holds names its last instant as that: it is a month away, and says nothing of when people hear again. */
function silenceChip({ by, untilAt, endsWithCause }: NonNullable<HoldFacts['silence']>): VerdictHold {
  const made = chip('silenced', `${toldWords.silenced} by ${by}`, untilAt, by);
  if (!endsWithCause) return made;
  return { ...made, words: `${toldWords.silenced} by ${by} until it ends, ${instantIn('at', untilAt)} at the latest` };
}

function chip(kind: VerdictHoldKind, words: string, untilAt: Instant | undefined, by: string | undefined): VerdictHold {
  return {
    kind,
    by: by ?? null,
    until: untilAt === undefined ? null : new Date(untilAt).toISOString(),
    words: untilAt === undefined ? words : `${words} until ${instantIn('at', untilAt)}`,
  };
}
