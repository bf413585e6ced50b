import type { Instant } from '../instant.ts';
import { parse } from '../schedule/index.ts';

/**
 * From the slot that a run answers, or before which it was made, to the one that follows; milliseconds. Undefined when there is no such pair:
 * the schedule cannot be read, or does not come again.
 */
export function slotGapMs(
  text: string,
  timeZone: string,
  run: { readonly slotAt: Instant | undefined; readonly createdAt: Instant },
): number | undefined {
  try {
    const schedule = parse(text);
    const at = run.slotAt ?? run.createdAt;
    const nextAt = schedule.next(at, timeZone);
    // Intervals have one length, wherever they are counted from.
    const beforeAt = run.slotAt ?? (schedule.kind === 'every' ? at : schedule.previous(at + 1_000, timeZone));
    return nextAt === null || beforeAt === null ? undefined : nextAt - beforeAt;
  } catch {
    return undefined; // told as a finding of its own
  }
}
