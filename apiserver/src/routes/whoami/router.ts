import { abilities, actingAbilities, type Ability, Whoami } from '@cronjob-monitor/shared/contract';
import { route } from '../route.ts';
import type { Caller } from '../../auth/authentication.ts';
import { name } from '../../middleware/parameters.ts';

const whoamiQuery = { namespace: name('Where the abilities are asked for; without it in any namespace.') };

/** GET /whoami: who calls, and what they may do. Open in every mode. */
export const whoamiRoutes = [
  route(
    {
      method: 'GET',
      path: '/whoami',
      tag: 'Overview',
      id: 'getWhoami',
      says: 'Who calls, and what they may do',
      query: whoamiQuery,
      answer: Whoami,
      refusals: [401],
      noStore: true,
    },
    async ({ deps: { authentication, settings }, ctx, query: { namespace } }) => {
      const { caller, may } = await authentication.abilitiesOf(ctx.req, namespace);
      const { readOnly, defaultTimeZone } = settings;
      return presentWhoami({ caller, may, namespace, readOnly, defaultTimeZone });
    },
  ),
];

/** All of them are false while read-only. */
const acting: ReadonlySet<Ability> = new Set(actingAbilities);

function presentWhoami(facts: {
  readonly caller: Caller;
  readonly may: (ability: Ability) => boolean;
  readonly namespace: string | undefined;
  readonly readOnly: boolean;
  readonly defaultTimeZone: string;
}): Whoami {
  const { caller, may, readOnly } = facts;
  const can = abilities.map((ability) => [ability, may(ability) && !(readOnly && acting.has(ability))] as const);
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
