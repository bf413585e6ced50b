import { listChannels } from '../api/channels.ts';
import { listCronJobs } from '../api/cronjobs.ts';
import { listMonitors } from '../api/monitors.ts';
import { addressOf, router, type Place } from '../router.svelte.ts';

/** Shows another cluster: on this page, if it has something to show there, else on the dashboard. */
export async function showCluster(cluster: string): Promise<void> {
  const from = router.path;
  const isKept = await isAlsoIn(cluster, router.place);
  if (router.path !== from) return; // the reader has gone on meanwhile
  // A page of a list and a form are of the cluster before.
  if (isKept) router.setQuery({ cluster, offset: undefined, form: undefined });
  else router.go(addressOf('dashboard', {}, { cluster }));
}

/** Of an object it is asked; a run, an alert and a drill are of one cluster alone. */
async function isAlsoIn(cluster: string, { page, params }: Place): Promise<boolean> {
  const { namespace = '', name = '' } = params;
  const isThis = (one: { readonly namespace?: string; readonly name: string }): boolean =>
    one.name === name && (one.namespace ?? '') === namespace;
  try {
    switch (page) {
      case 'run':
      case 'alert':
      case 'drill':
      case 'unknown':
        return false;
      case 'cronjob': {
        const query = { namespace: [namespace], search: name, limit: 100, cluster };
        return (await listCronJobs(query)).value.items.some(isThis);
      }
      case 'monitor':
        return (await listMonitors({ search: name, namespace: [namespace], cluster })).value.items.some(isThis);
      case 'channel':
        return (await listChannels({ cluster })).value.items.some((one) => one.name === name);
      default:
        return true;
    }
  } catch {
    return false; // it cannot be told
  }
}
