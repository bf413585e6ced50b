import { getSchemaState, PoolBusyError, StoreError, type SchemaState, type Store } from '@cronjob-monitor/shared/store';
import type { Problem } from '@cronjob-monitor/shared/domain';
import type { Clock, Logger } from '@cronjob-monitor/shared/process';
import type { StorageState } from '@cronjob-monitor/shared/contract';
import { databaseUnavailable, migrating } from './errors.ts';
import { joined } from './live/joined.ts';
import type { Translation } from './middleware/error-boundary.ts';

/** Between two looks: often while something is wrong, so that service resumes at once. */
const healthyEveryMs = 10_000;
const troubledEveryMs = 1_000;

/** What the last look at the database said. */
interface DatabaseView {
  readonly storage: StorageState;
  /** Undefined while it was never reached. */
  readonly schema: { readonly version: number; readonly supported: number } | undefined;
}

/** Looks at the database from time to time, so that readiness and refusals need no question of their own. */
export interface DatabaseWatch {
  view(): DatabaseView;
  /** Looks now: what health tells. Callers that ask at once share a look. */
  look(): Promise<DatabaseView>;
  /** The problem with the schema; a replica with another schema is not ready. */
  problems(): readonly Problem[];
  run(signal: AbortSignal): Promise<void>;
}

/** The replica is not ready before the first look at the schema. */
const notLookedYet: Problem = {
  key: 'schema',
  cause: undefined,
  sentence: 'the schema of the database is being looked at for the first time',
  blocks: true,
};

export function createDatabaseWatch(deps: {
  readonly store: Store;
  readonly clock: Clock;
  readonly logger: Logger;
}): DatabaseWatch {
  let view: DatabaseView = { storage: 'unreachable', schema: undefined };
  let hasLooked = false;

  const look = joined(async (): Promise<DatabaseView> => {
    // A database that takes no writes is asked for one: nothing else in this process writes and would find that it does again.
    if (deps.store.trouble()?.error.code === 'full') await deps.store.probe().catch(() => {});
    const next = await ask(deps.store);
    if (next.storage !== view.storage) deps.logger.info('The database changed its state', { storage: next.storage });
    view = { storage: next.storage, schema: next.schema ?? view.schema };
    hasLooked = true;
    return view;
  });

  return {
    view: () => view,
    look,
    problems() {
      if (!hasLooked) return [notLookedYet];
      if (view.storage !== 'migrating' || !view.schema) return [];
      const { version, supported } = view.schema;
      const sentence =
        version < supported
          ? `the schema of the database is ${version}, and this version serves ${supported}: the leading controller brings it forward as soon as it has this version`
          : `the schema of the database is ${version}, and this version serves ${supported}: start the later release that made it`;
      return [{ key: 'schema', cause: 'schemaDiffers', sentence, blocks: true }];
    },
    async run(signal) {
      while (!signal.aborted) {
        const { storage } = await look();
        const pauseMs = storage === 'connected' ? healthyEveryMs : troubledEveryMs;
        await deps.clock.sleep(pauseMs, signal).catch(() => {}); // aborted: the loop ends
      }
    },
  };
}

async function ask(store: Store): Promise<DatabaseView> {
  try {
    const schema = await getSchemaState(store);
    return { storage: storageOf(schema, store), schema: { version: schema.version, supported: schema.supported } };
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    // It answered others while this question waited for a connection.
    if (error instanceof PoolBusyError) return { storage: 'connected', schema: undefined };
    return { storage: 'unreachable', schema: undefined };
  }
}

function storageOf(schema: SchemaState, store: Store): StorageState {
  if (schema.state !== 'ready') return 'migrating';
  return store.trouble()?.error.code === 'full' ? 'unwritable' : 'connected';
}

/** Codes that say: later, it may work again. The rest are faults of ours. */
const away = new Set(['unavailable', 'timeout', 'busy', 'refused', 'closed']);

/** Makes the store's errors those of the API. */
export function storeTranslation(databaseWatch: DatabaseWatch): Translation {
  return (error) => {
    if (!(error instanceof StoreError)) return undefined;
    if (error.code === 'full')
      return databaseUnavailable(error, 'The database takes no writes; nothing was changed. Health says why');
    if (error instanceof PoolBusyError) return databaseUnavailable(error, allBusy(error));
    if (away.has(error.code)) return databaseUnavailable(error);
    const { schema } = databaseWatch.view();
    return error.code === 'schema' && schema ? migrating(schema.version, schema.supported) : undefined;
  };
}

function allBusy({ connections, key }: PoolBusyError): string {
  const all = `All ${connections} connections of this process to the database are busy, which answers others`;
  return `${all}: try again${key === undefined ? '' : `, or raise ${key}`}`;
}
