import { schemaOpener, type StoreDeps, type StoreSettings } from '@cronjob-monitor/shared/store';
import type { ApiDeps } from '../create-api.ts';

/** Where a service looks for other clusters: in the schemas of its database server. A file has none. */
export function schemasOf(settings: StoreSettings, deps: StoreDeps): Pick<ApiDeps, 'schema' | 'openSchema'> {
  if (settings.type === 'sqlite') return {};
  return {
    schema: settings.type === 'postgres' ? (settings.schema ?? 'public') : settings.database,
    openSchema: schemaOpener(settings, deps),
  };
}
