import { getSchemaState, StoreError, type SchemaState, type Store } from '@cronjob-monitor/shared/store';
import type { Clock, Logger } from '@cronjob-monitor/shared/process';
import type { StorageState } from '@cronjob-monitor/shared/contract';

/** Between two looks: often while something is wrong, so that service resumes at once. */
const healthyEveryMs = 10_000;
const troubledEveryMs = 1_000;
/** So long may the database be away before this process takes no more requests. */
const unreadyAfterMs = 30_000;

/** What the last look at the database said. */
export interface DatabaseView {
  readonly storage: StorageState;
  /** Undefined while it was never reached. */
  readonly schema: { readonly version: number; readonly supported: number } | undefined;
}

/** Looks at the database from time to time, so that readiness and refusals need no question of their own. */
export interface DatabaseWatch {
  view(): DatabaseView;
  /** Looks now: what health tells. */
  look(): Promise<DatabaseView>;
  /** One sentence for each reason why no requests should come here. */
  unreadyBecause(): readonly string[];
  /** Looks until aborted. */
  run(signal: AbortSignal): Promise<void>;
}

export function createDatabaseWatch(deps: {
  readonly store: Store;
  readonly clock: Clock;
  readonly logger: Logger;
}): DatabaseWatch {
  let view: DatabaseView = { storage: 'unreachable', schema: undefined };
  /** Since when it is away, monotonic; undefined while it answers. */
  let awaySinceMs: number | undefined = deps.clock.monotonicMs() - unreadyAfterMs;

  async function look(): Promise<DatabaseView> {
    const next = await ask(deps.store);
    if (next.storage !== view.storage) deps.logger.info('The database changed its state', { storage: next.storage });
    if (next.storage === 'unreachable') awaySinceMs ??= deps.clock.monotonicMs();
    else awaySinceMs = undefined;
    view = { storage: next.storage, schema: next.schema ?? view.schema };
    return view;
  }

  return {
    view: () => view,
    look,
    unreadyBecause() {
      const reasons: string[] = [];
      if (awaySinceMs !== undefined && deps.clock.monotonicMs() - awaySinceMs >= unreadyAfterMs) {
        reasons.push('the database does not answer');
      }
      if (view.storage === 'migrating' && view.schema) {
        reasons.push(`the schema is ${view.schema.version}, this version serves ${view.schema.supported}`);
      }
      return reasons;
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
    return { storage: storageOf(schema), schema: { version: schema.version, supported: schema.supported } };
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    return { storage: 'unreachable', schema: undefined };
  }
}

function storageOf(schema: SchemaState): StorageState {
  return schema.state === 'ready' ? 'connected' : 'migrating';
}
