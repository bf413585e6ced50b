import type { Ability } from '@cronjob-monitor/shared/contract';

const needed: Readonly<Record<Ability, string>> = {
  read: 'list cronjobs',
  readLogs: 'get pods/log',
  readMonitors: 'list cronjobmonitors',
  preview: 'create cronjobmonitors',
  readChannels: 'list alertchannels',
  testPattern: 'a login',
  trigger: 'create jobs',
  suspend: 'patch cronjobs',
  deleteHistory: 'delete cronjobs',
  acknowledge: 'update cronjobmonitors',
  silence: 'update cronjobmonitors',
  testChannel: 'update alertchannels',
  redrive: 'update alertchannels',
  readConfig: 'get on /api/v1/config',
  prune: 'post on /api/v1/admin/prune',
};

/** What a caller lacks, for a button that is shown and cannot be used: `Needs create jobs in prod`. */
export function missingRight(ability: Ability, namespace: string | undefined): string {
  return `Needs ${needed[ability]}${namespace === undefined ? '' : ` in ${namespace}`}`;
}

/** The same for all while the API only reads. */
export const readOnlyText = 'This service is read-only (api.read-only)';

/** What is so while the service asks for no sign-in. */
export const openAccessText =
  'Authentication is off. Anyone who can open this page may trigger, suspend and delete history.';
