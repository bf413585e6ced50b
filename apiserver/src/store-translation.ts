import { StoreError } from '@cronjob-monitor/shared/store';
import type { DatabaseWatch } from './database-watch.ts';
import { databaseUnavailable, migrating } from './errors.ts';
import type { Translation } from './middleware/error-boundary.ts';

/** Codes that say: later, it may work again. The rest are faults of ours. */
const away = new Set(['unavailable', 'timeout', 'busy', 'refused', 'closed']);

/** Makes the store's errors those of the API. */
export function storeTranslation(databaseWatch: DatabaseWatch): Translation {
  return (error) => {
    if (!(error instanceof StoreError)) return undefined;
    if (error.code === 'full')
      return databaseUnavailable(error, 'The database takes no writes; nothing was changed. Health says why');
    if (away.has(error.code)) return databaseUnavailable(error);
    const { schema } = databaseWatch.view();
    return error.code === 'schema' && schema ? migrating(schema.version, schema.supported) : undefined;
  };
}
