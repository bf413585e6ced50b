import { StoreError } from '@cronjob-monitor/shared/store';

const awayCodes: ReadonlySet<string> = new Set(['unavailable', 'timeout', 'full', 'refused', 'busy']);

/** Nothing is wrong with the work: it waits for the database. */
export function isDatabaseAway(error: unknown): boolean {
  return error instanceof StoreError && awayCodes.has(error.code);
}

/** Asks once, and trips the circuit when there is no answer: a process that starts in an outage is in it from its first moment. */
export async function noticeOutage(probe: () => Promise<void>, circuit: { trip(error: unknown): void }): Promise<void> {
  try {
    await probe();
  } catch (error) {
    if (isDatabaseAway(error)) circuit.trip(error);
  }
}
