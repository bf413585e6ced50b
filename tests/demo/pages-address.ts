import { isIPv6 } from 'node:net';
import type { LoadedConfig } from '@cronjob-monitor/shared/config';

/** Where a browser on this machine finds the pages of a service with this configuration; undefined: it serves none. */
export function pagesAddress({ config }: LoadedConfig): string | undefined {
  if (!config['ui.enabled']) return undefined;
  const host = config['api.host'];
  const reached = host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host;
  return `http://${isIPv6(reached) ? `[${reached}]` : reached}:${config['ui.port']}/`;
}
