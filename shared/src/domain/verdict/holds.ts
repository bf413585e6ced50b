import type { ToldReason, VerdictHold, VerdictHoldKind } from '../../contract/index.ts';
import type { Instant } from '../instant.ts';
import { instantIn } from './figures.ts';

/** What keeps back messages about one alert now. */
export interface HoldFacts {
  readonly acknowledged: { readonly by: string; readonly untilAt: Instant | undefined } | undefined;
  /** In force now, whatever was told before it began. */
  readonly silence: { readonly by: string; readonly untilAt: Instant } | undefined;
  readonly maintenance: { readonly untilAt: Instant | undefined } | undefined;
  /** Why its message is held or waits; undefined: it does neither. */
  readonly told: { readonly reason: ToldReason | null; readonly untilAt: Instant | undefined } | undefined;
}

/** Reasons of a message that is held or waits, as chips say them. A person's holds stand by themselves. */
const said: Readonly<Partial<Record<ToldReason, readonly [VerdictHoldKind, string]>>> = {
  storm: ['storm', 'Many at once'],
  inhibited: ['inhibited', 'Another alert of it tells this'],
  dependsOn: ['dependsOn', 'Waits for a CronJob before it'],
  duplicate: ['duplicate', 'Already told'],
  flapping: ['flapping', 'Comes and goes'],
  startupGrace: ['startupGrace', 'Waits for the start'],
  rateLimit: ['rateLimit', 'Waits: rate limit'],
  backoff: ['backoff', 'Waits: the channel did not answer'],
  circuit: ['circuit', 'Waits: the channel rests'],
  parked: ['parked', 'Parked until its channel is mended'],
  invalid: ['invalid', 'Its channel is not usable'],
  order: ['order', 'Waits for an earlier message'],
  after: ['waits', 'Waits for its turn'],
  alertDelay: ['waits', 'Waits'],
};

/** Each hold in force as a chip, the ones that a person asked for first. */
export function holdsOf({ acknowledged, silence, maintenance, told }: HoldFacts): VerdictHold[] {
  const chips: VerdictHold[] = [];
  if (acknowledged)
    chips.push(chip('acknowledged', `Acknowledged by ${acknowledged.by}`, acknowledged.untilAt, acknowledged.by));
  if (silence) chips.push(chip('silence', `Silenced by ${silence.by}`, silence.untilAt, silence.by));
  if (maintenance) chips.push(chip('maintenance', 'Maintenance', maintenance.untilAt, undefined));
  const words = told?.reason == null ? undefined : said[told.reason];
  if (words) chips.push(chip(words[0], words[1], told?.untilAt, undefined));
  return chips;
}

function chip(kind: VerdictHoldKind, words: string, untilAt: Instant | undefined, by: string | undefined): VerdictHold {
  return {
    kind,
    by: by ?? null,
    until: untilAt === undefined ? null : new Date(untilAt).toISOString(),
    words: untilAt === undefined ? words : `${words} until ${instantIn('at', untilAt)}`,
  };
}
