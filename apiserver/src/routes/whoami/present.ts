import { abilities, type Ability, type Whoami } from '@cronjob-monitor/shared/contract';
import type { Caller } from '../../auth/authentication.ts';

/** Abilities that change nothing; all others are false while read-only. */
const reading = new Set<Ability>([
  'read',
  'readLogs',
  'readMonitors',
  'preview',
  'readChannels',
  'testPattern',
  'readConfig',
]);

export function presentWhoami(facts: {
  readonly caller: Caller;
  readonly may: (ability: Ability) => boolean;
  readonly namespace: string | undefined;
  readonly readOnly: boolean;
  readonly defaultTimeZone: string;
}): Whoami {
  const { caller, may, readOnly } = facts;
  const can = abilities.map((ability) => [ability, may(ability) && (reading.has(ability) || !readOnly)] as const);
  return {
    mode: caller.mode,
    authenticated: caller.user !== undefined,
    user: caller.user ?? null,
    namespace: facts.namespace ?? null,
    readOnly,
    defaultTimeZone: facts.defaultTimeZone,
    can: Object.fromEntries(can) as Whoami['can'],
  };
}
