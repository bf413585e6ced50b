import type { Sign } from '../kit/icon/drawings.ts';
import { clusters } from '../state/clusters.svelte.ts';
import type { PageName } from '../router.svelte.ts';

/** A page that stands in the rail. */
interface NavigationEntry {
  readonly page: PageName;
  readonly word: string;
  readonly sign: Sign;
  /** After `g`. */
  readonly key: string;
  /** Of several clusters: there is nothing in it of one. */
  readonly isOfClusters?: boolean;
  /** Begins the second group of the rail. */
  readonly isApart?: boolean;
  /** Stands in the bar at the foot of a phone too. */
  readonly isOnPhone?: boolean;
}

export const navigation: readonly NavigationEntry[] = [
  { page: 'dashboard', word: 'Dashboard', sign: 'dashboard', key: 'd', isOnPhone: true },
  { page: 'cronjobs', word: 'CronJobs', sign: 'cronjobs', key: 'c', isOnPhone: true },
  { page: 'alerts', word: 'Alerts', sign: 'alerts', key: 'a', isOnPhone: true },
  { page: 'wall', word: 'Wall', sign: 'wall', key: 'w', isOnPhone: true },
  { page: 'sla', word: 'SLA', sign: 'sla', key: 'l' },
  { page: 'monitors', word: 'Monitors', sign: 'monitors', key: 'm', isApart: true },
  { page: 'coverage', word: 'Coverage', sign: 'coverage', key: 'o' },
  { page: 'advice', word: 'Advice', sign: 'advice', key: 'v' },
  { page: 'silences', word: 'Silences', sign: 'silences', key: 's' },
  { page: 'channels', word: 'Channels', sign: 'channels', key: 'h' },
  { page: 'clusters', word: 'Clusters', sign: 'clusters', key: 'u', isOfClusters: true },
  { page: 'settings', word: 'Settings', sign: 'settings', key: 'e' },
];

/** As the rail, the palette and the keys have them: without what a service with one cluster has no use for. */
export function shownPages(): readonly NavigationEntry[] {
  return navigation.filter(({ isOfClusters }) => !isOfClusters || clusters.isSeveral);
}

/** Which entry of the rail a page belongs to: a CronJob and its runs to the CronJobs. */
export function entryOf(page: PageName | 'unknown'): PageName | undefined {
  switch (page) {
    case 'unknown':
      return undefined;
    case 'cronjob':
    case 'run':
    case 'search':
      return 'cronjobs';
    case 'monitor':
      return 'monitors';
    case 'alert':
      return 'alerts';
    case 'slaReport':
      return 'sla';
    case 'channel':
      return 'channels';
    default:
      return page;
  }
}
