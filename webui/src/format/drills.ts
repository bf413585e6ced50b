import type { Drill } from '@cronjob-monitor/shared/contract';
import { durationText } from './duration.ts';
import { safeText } from './safe-text.ts';
import { msOf, shortTimeText } from './time.ts';
import type { Viewer } from './viewer.ts';

/** What became of a drill: `Acknowledged 14:03 by ana, 12 min after it was delivered`. */
export function drillText({ outcome, sentAt, ackByAt, ackedAt, ackedBy }: Drill, { timeZone, nowMs }: Viewer): string {
  const time = (at: string): string => shortTimeText(at, timeZone, nowMs);
  if (outcome === 'failed') return 'No receiver accepted it in time';
  if (ackedAt !== null) {
    const by = ackedBy === null ? ', no name given' : ` by ${safeText(ackedBy)}`;
    const seconds = sentAt === null ? undefined : Math.max(0, Math.round((msOf(ackedAt) - msOf(sentAt)) / 1_000));
    const after = seconds === undefined ? '' : `, ${durationText(seconds)} after it was delivered`;
    return `Acknowledged ${time(ackedAt)}${by}${after}`;
  }
  if (sentAt === null || ackByAt === null) return 'On its way: no receiver has accepted it yet';
  return outcome === 'waiting'
    ? `Delivered ${time(sentAt)}, to be acknowledged until ${time(ackByAt)}`
    : `Delivered ${time(sentAt)}, not acknowledged until ${time(ackByAt)}`;
}
