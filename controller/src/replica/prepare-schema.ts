import type { Clock, Logger } from '@cronjob-monitor/shared/process';
import { findLeaderBeat, getSchemaState, migrate, StoreError, type Store } from '@cronjob-monitor/shared/store';
import { findOtherWriter } from '../leadership/index.ts';
import type { ControllerSettings } from '../settings/settings.ts';

/** Starting again would find the same: the sentence says what to change. */
class HopelessStart extends Error {}

/** Trying again cannot help. */
export function isHopeless(error: unknown): boolean {
  return error instanceof HopelessStart || (error instanceof StoreError && error.code === 'schema');
}

/** Schema up to date; and on a database file, no other process writing to it. */
export async function prepareSchema(
  {
    store,
    settings,
    clock,
    logger,
  }: {
    readonly settings: Pick<ControllerSettings, 'isFileStorage' | 'identity' | 'leaseMs' | 'version'>;
    readonly store: Store;
    readonly clock: Clock;
    readonly logger: Logger;
  },
  signal: AbortSignal,
): Promise<void> {
  await store.waitUntilReady(signal);
  if (settings.isFileStorage && (await getSchemaState(store)).state === 'ready') {
    const readBeat = async () => {
      // Of the one that took the file last: a process killed before it left a beat that says it leads for a lease time more.
      const leader = await findLeaderBeat(store);
      return leader?.holder === settings.identity ? undefined : leader;
    };
    const other = await findOtherWriter({ readBeat, clock, leaseMs: settings.leaseMs }, signal);
    if (other) {
      throw new HopelessStart(
        `another process (${other.holder}) writes to this database file; end it first, or give this one a file of its own (storage.sqlite.path)`,
      );
    }
  }
  const { applied } = await migrate(store, { version: settings.version });
  if (applied.length > 0) logger.info('the schema is up to date', { applied });
}
