import { abilities, type Ability, type Whoami } from '@cronjob-monitor/shared/contract';
import { readQuery } from '../../middleware/validate.ts';
import { createRouter, type ApiRouter, type RouteDeps } from '../deps.ts';
import type { Caller } from '../../auth/authentication.ts';
import { name } from '../../middleware/parameters.ts';

const whoamiQuery = { namespace: name('Where the abilities are asked for; without it in any namespace.') };

/**
 * @openapi
 * /whoami:
 *   get:
 *     tags: [Overview]
 *     operationId: getWhoami
 *     summary: Who calls, and what they may do
 *     x-query: [oneNamespace]
 *     x-answers: { 200: Whoami }
 *     x-refusals: [401]
 *     x-no-store: true
 */

/** GET /whoami: who calls, and what they may do. Open in every mode. */
export function whoamiRouter({ guard, authentication, settings }: RouteDeps): ApiRouter {
  return createRouter().get('/whoami', guard({}), async (ctx) => {
    const { namespace } = readQuery(ctx, whoamiQuery);
    const { caller, may } = await authentication.abilitiesOf(ctx.req, namespace);
    const { readOnly, defaultTimeZone } = settings;
    ctx.state.noStore = true;
    ctx.body = presentWhoami({ caller, may, namespace, readOnly, defaultTimeZone });
  });
}

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

function presentWhoami(facts: {
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
