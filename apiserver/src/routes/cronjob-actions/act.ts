import type { Ability, SuspendResult, TriggerResult } from '@cronjob-monitor/shared/contract';
import { listActiveJobs, type ActionKind } from '@cronjob-monitor/shared/store';
import type { Caller } from '../../auth/authentication.ts';
import type { RouteDeps } from '../deps.ts';
import { getStartable } from '../known-cron-job.ts';

/** What a caller asks for of one CronJob, whose right to it has been asked for. */
export interface ActWish {
  readonly kind: ActionKind;
  /** As a path names it. */
  readonly namespace: string;
  readonly name: string;
  /** Of a trigger: also beside an unfinished Job. */
  readonly force?: boolean | undefined;
  readonly caller: Caller | undefined;
  /** Ends the name of the Job, so that the same wish finds it again. */
  readonly jobSuffix?: string;
}

export type ActResult<Kind extends ActionKind = ActionKind> = Kind extends 'trigger' ? TriggerResult : SuspendResult;

/** What a caller needs for it. */
export const abilityFor = {
  trigger: 'trigger',
  suspend: 'suspend',
  resume: 'suspend',
} as const satisfies Record<ActionKind, Ability>;

/** Does it, or has the service of the cluster do it that the CronJob is in. */
export async function actOn<Kind extends ActionKind>(
  deps: Pick<RouteDeps, 'store' | 'actions' | 'elsewhere'>,
  wish: ActWish & { readonly kind: Kind },
): Promise<ActResult<Kind>> {
  return (deps.elsewhere ? await deps.elsewhere.act(wish) : await actHere(deps, wish)) as ActResult<Kind>;
}

async function actHere({ store, actions }: Pick<RouteDeps, 'store' | 'actions'>, wish: ActWish): Promise<ActResult> {
  const { kind, namespace, name, force = false, jobSuffix } = wish;
  const cronJob = await getStartable(store, { namespace, name });
  if (kind !== 'trigger') return actions.setSuspended(cronJob, kind === 'suspend');
  const activeJobs = (await listActiveJobs(store, [cronJob.id])).map(({ jobName }) => jobName);
  const by = wish.caller?.user?.name ?? 'anonymous';
  return actions.trigger({ cronJob, activeJobs, force, by, jobSuffix });
}
