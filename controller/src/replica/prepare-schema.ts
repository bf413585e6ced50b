import type { Clock, Logger } from '@cronjob-monitor/shared/process';
import {
  findLastWriter,
  getLeader,
  getSchemaState,
  migrate,
  StoreError,
  takeEpochAfter,
  type Store,
} from '@cronjob-monitor/shared/store';
import type { ControllerSettings } from '../settings/settings.ts';

interface PrepareDeps {
  readonly settings: Pick<ControllerSettings, 'isFileStorage' | 'identity' | 'leaseMs' | 'version'>;
  readonly store: Store;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Starting again would find the same: the sentence says what to change. */
class HopelessStart extends Error {}

/** Trying again cannot help. */
export function isHopeless(error: unknown): boolean {
  return error instanceof HopelessStart || (error instanceof StoreError && error.code === 'schema');
}

/**
 * Schema up to date; and on a database file, no other process writing to it. Returns the epoch that was in force as it looked for one: who
 * takes a later one began at the same time.
 */
export async function prepareSchema(deps: PrepareDeps, signal: AbortSignal): Promise<number> {
  const { store, settings, logger } = deps;
  await store.waitUntilReady(signal);
  const isMade = settings.isFileStorage && (await getSchemaState(store)).state === 'ready';
  const seen = isMade ? await lookForWriter(deps, signal) : 0;
  const { applied } = await migrate(store, { version: settings.version });
  if (applied.length > 0) logger.info('the schema is up to date', { applied });
  return seen;
}

/** Takes the epoch of a database file, unless a process that began at the same time was faster and lives. `seen`: of `prepareSchema`. */
export async function takeFile(deps: PrepareDeps, seen: number, signal: AbortSignal): Promise<number> {
  const { store, settings } = deps;
  for (let epoch = seen; ; epoch = await lookForWriter(deps, signal)) {
    const taken = await takeEpochAfter(store, settings.identity, epoch);
    if (taken !== undefined) return taken;
  }
}

/** The epoch in force before the look. Throws `HopelessStart` when another process writes. */
async function lookForWriter({ store, settings, clock }: PrepareDeps, signal: AbortSignal): Promise<number> {
  const { epoch } = await getLeader(store);
  const readBeat = async () => {
    // Of the one that took the file last: a process killed before it left a beat that says it leads for a lease time more.
    const writer = await findLastWriter(store);
    return writer?.holder === settings.identity ? undefined : writer;
  };
  const other = await findOtherWriter({ readBeat, clock, leaseMs: settings.leaseMs }, signal);
  if (other === undefined) return epoch;
  throw new HopelessStart(
    `another process (${other.holder}) writes to this database file; end it first, or give this one a file of its own (storage.sqlite.path)`,
  );
}

/** The last beat of a process that leads, or led until it ended without a word. */
export interface LastBeat {
  readonly holder: string;
  readonly beatAt: number;
}

/**
 * Whether another process writes to the same file: its beat goes on while we look. One that ended without a word leaves a beat that
 * does not move, and is waited for no longer than it takes to tell. Two processes that took the file from each other in turn would
 * record nothing.
 */
export async function findOtherWriter(
  deps: {
    /** The newest beat of any other process that said it leads; undefined: none. */
    readonly readBeat: () => Promise<LastBeat | undefined>;
    readonly clock: Clock;
    /** A beat is written every third of it. */
    readonly leaseMs: number;
  },
  signal: AbortSignal,
): Promise<LastBeat | undefined> {
  const { clock, leaseMs } = deps;
  const first = await deps.readBeat();
  if (!first || clock.now() - first.beatAt > leaseMs) return undefined;
  const until = clock.monotonicMs() + leaseMs / 2;
  while (clock.monotonicMs() < until) {
    await clock.sleep(leaseMs / 30, signal);
    const latest = await deps.readBeat();
    if (!latest) return undefined;
    if (latest.holder !== first.holder || latest.beatAt > first.beatAt) return latest;
  }
  return undefined;
}
