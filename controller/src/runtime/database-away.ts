import { StoreError } from '@cronjob-monitor/shared/store';

const awayCodes: ReadonlySet<string> = new Set(['unavailable', 'timeout', 'full', 'refused', 'busy']);

/** Nothing is wrong with the work: it waits for the database. */
export function isDatabaseAway(error: unknown): boolean {
  return error instanceof StoreError && awayCodes.has(error.code);
}

/**
 * Asks, and trips the circuit when there is no answer: a process that starts in an outage is in it from its first moment. A first answer that
 * was late, or that met a lock, says more of the start than of the database: it is asked once more.
 */
export async function noticeOutage(probe: () => Promise<void>, circuit: { trip(error: unknown): void }): Promise<void> {
  try {
    await probe().catch(async (error: unknown) => {
      if (!isOfTheMoment(error)) throw error;
      await probe();
    });
  } catch (error) {
    if (isDatabaseAway(error)) circuit.trip(error);
  }
}

function isOfTheMoment(error: unknown): boolean {
  return error instanceof StoreError && (error.code === 'busy' || error.code === 'timeout');
}
