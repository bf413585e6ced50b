import { isGroupName, type CronJob, type RecentRun, type Ref } from '@cronjob-monitor/shared/contract';
import { ApiError } from '../../api/client.ts';
import { resumeCronJob, suspendCronJob, triggerCronJob } from '../../api/cronjobs.ts';
import { getMonitor } from '../../api/monitors.ts';
import { named } from '../../api/named.ts';
import { endAt } from '../../format/ends.ts';
import { msOf } from '../../format/time.ts';
import { describeCronJob, jobsOf } from '../../format/kubectl.ts';
import { nextRunText } from '../../format/next-run.ts';
import { plural } from '../../format/figures.ts';
import { confirmation } from '../../kit/confirm/confirm.svelte.ts';
import { copy } from '../../kit/copy/copy.ts';
import type { MenuItem } from '../../kit/menu/menu-item.ts';
import { toasts } from '../../kit/toast/toasts.svelte.ts';
import { addressOf, router } from '../../router.svelte.ts';
import { clusters } from '../../state/clusters.svelte.ts';
import { live } from '../../state/live.svelte.ts';
import { now } from '../../state/now.svelte.ts';
import { session } from '../../state/session.svelte.ts';
import { viewer } from '../../state/viewer.svelte.ts';
import { chooseItems, hands, silenceItems } from '../alert-parts/alert-actions.svelte.ts';

type ActedOn = Pick<
  CronJob,
  | 'namespace'
  | 'name'
  | 'suspended'
  | 'runningJobs'
  | 'concurrencyPolicy'
  | 'nextRun'
  | 'schedule'
  | 'timezone'
  | 'scheduleProblem'
  | 'deletedAt'
  | 'monitorRef'
>;

/** One thing to do with a CronJob: a button of its page, a line of the menu of its row. */
interface CronJobAction {
  readonly id: 'trigger' | 'suspend' | 'resume';
  readonly word: string;
  readonly missing: string | undefined;
  readonly run: () => void;
}

/** What can be done with a CronJob; without the right it is shown and says what is missing. Nothing with a group of Jobs. */
export function actionsOf(cronJob: ActedOn): CronJobAction[] {
  if (isGroupName(cronJob.name)) return [];
  const gone = cronJob.deletedAt === null ? undefined : 'It was deleted';
  const lackOf = (ability: 'trigger' | 'suspend'): string | undefined =>
    gone ?? session.right(ability, cronJob.namespace).missing;
  const missing = lackOf('suspend');
  return [
    { id: 'trigger', word: 'Trigger', missing: lackOf('trigger'), run: () => void askTrigger(cronJob) },
    cronJob.suspended
      ? { id: 'resume', word: 'Resume', missing, run: () => void atOnce(() => setSuspended(cronJob, false)) }
      : { id: 'suspend', word: 'Suspend', missing, run: () => void askSuspend(cronJob) },
  ];
}

/** One of a list. */
type Listed = ActedOn & Pick<CronJob, 'activeAlerts' | 'heldAlerts'>;

/** The menu of a row. */
export function menuOf(cronJob: Listed): MenuItem[] {
  const monitor = cronJob.monitorRef;
  return [
    { word: 'Open', href: addressOf('cronjob', { namespace: cronJob.namespace, name: cronJob.name }), key: 'Enter' },
    ...(monitor
      ? [{ word: `Monitor ${monitor.namespace}/${monitor.name}`, href: addressOf('monitor', { ...monitor }) }]
      : []),
    ...actionsOf(cronJob).map(({ id, word, missing, run }, index) => ({
      word,
      missing,
      run,
      isApart: index === 0,
      ...(id === 'trigger' ? { key: 't' } : {}),
    })),
    ...acknowledgeItems(cronJob),
    ...silenceItems(cronJob),
    ...chooseItems(`${cronJob.namespace}/${cronJob.name}`),
    ...(isGroupName(cronJob.name)
      ? []
      : [{ word: 'Copy kubectl command', run: () => void copy(describeCronJob(cronJob)), isApart: true }]),
    { word: 'Copy name', run: () => void copy(`${cronJob.namespace}/${cronJob.name}`) },
  ];
}

/** All its open alerts at once. */
function acknowledgeItems({ namespace, name, activeAlerts, heldAlerts }: Listed): MenuItem[] {
  if (activeAlerts + heldAlerts === 0) return [];
  const row = { key: `${namespace}/${name}`, ref: { namespace, name } };
  return [
    {
      word: 'Acknowledge',
      missing: session.right('acknowledge', namespace).missing,
      run: () => void hands().then((together) => together.acknowledge([row])),
      isApart: true,
      key: 'a',
    },
  ];
}

/** What the page of a CronJob, or of a group of Jobs, offers besides its actions. */
export function moreOf(cronJob: Ref): MenuItem[] {
  const commands = [
    { word: 'Copy kubectl describe', run: () => void copy(describeCronJob(cronJob)) },
    { word: 'Copy kubectl get jobs', run: () => void copy(jobsOf(cronJob)) },
  ];
  const ofCronJob = isGroupName(cronJob.name) ? [] : commands;
  return [...silenceItems(cronJob), ...ofCronJob, { word: 'Print', run: () => print() }];
}

/** To the page of the run behind a mark, where one answered it. */
export function openRun({ namespace, name }: Ref, run: Pick<RecentRun, 'jobName'> | undefined): void {
  if (run?.jobName != null) router.go(addressOf('run', { namespace, name, jobName: run.jobName }));
}

/** The lists that a CronJob, or a group of Jobs, is in. */
export function crumbsOf({ namespace, name }: Ref): { readonly word: string; readonly href: string }[] {
  const kind = isGroupName(name) ? 'Jobs' : undefined;
  return [
    { word: kind ?? 'CronJobs', href: addressOf('cronjobs', {}, { kind }) },
    { word: namespace, href: addressOf('cronjobs', {}, { kind, ns: namespace }) },
  ];
}

/** A run that was started from here is shown until the service tells of it, and for so long at most. */
const shownAtOnceMs = 60_000;

/** Runs that the cluster has taken, of which the service does not tell yet. */
class Started {
  #runs = $state.raw<readonly { readonly key: string; readonly jobName: string; readonly atMs: number }[]>([]);

  add(cronJob: Ref, jobName: string): void {
    this.#runs = [...this.#runs.slice(-20), { key: keyOf(cronJob), jobName, atMs: now.ms }];
  }

  /** Names of Jobs of a CronJob that are not among those that are known. */
  of(cronJob: Ref, known: readonly string[]): readonly string[] {
    return this.#runs.flatMap(({ key, jobName, atMs }) =>
      key === keyOf(cronJob) && !known.includes(jobName) && now.ms - atMs < shownAtOnceMs ? [jobName] : [],
    );
  }
}

export const started = new Started();

/** Another cluster may have a CronJob of the same name. */
function keyOf({ namespace, name }: Ref): string {
  return `${clusters.asked ?? ''} ${namespace}/${name}`;
}

/** Until when a trigger is the same wish as the one before: while that is on its way, and for a second or two after its answer. */
const sameWishUntil = new Map<string, number>();

/** Starts it at once; where its policy does not allow a run beside another one, it is asked first. */
async function askTrigger(cronJob: ActedOn): Promise<void> {
  if (cronJob.runningJobs > 0 && cronJob.concurrencyPolicy !== 'Allow') return askBeside(cronJob);
  const key = keyOf(cronJob);
  if (viewer.nowMs < (sameWishUntil.get(key) ?? 0)) return;
  sameWishUntil.set(key, Infinity);
  const error = await atOnce(() => trigger(cronJob, false));
  sameWishUntil.set(key, viewer.nowMs + 2_000);
  if (isBeside(error)) askBeside(cronJob);
}

/** The list did not know yet that a run is active. */
function isBeside(error: unknown): boolean {
  return error instanceof ApiError && error.code === 'CONCURRENCY_REFUSED';
}

function askBeside(cronJob: ActedOn): void {
  const { runningJobs: count, concurrencyPolicy, namespace, name } = cronJob;
  const active =
    count > 0 ? `${plural(count, 'Job')} of it ${count === 1 ? 'is' : 'are'} active.` : 'A Job of it is active.';
  confirmation.ask({
    title: `Trigger ${namespace}/${name}?`,
    says: [`${active} Its policy is ${concurrencyPolicy}: a run now starts beside it and deletes nothing.`],
    note: "Manual runs do not count for SLA. They count for the dead-man's switch.",
    action: 'Start beside it',
    run: () => trigger(cronJob, true),
  });
}

async function trigger(cronJob: Ref, force: boolean): Promise<void> {
  const { namespace, name } = cronJob;
  const cluster = clusters.asked;
  const { jobName } = await named(`Could not trigger ${namespace}/${name}`, () => triggerCronJob(cronJob, force));
  if (cluster === clusters.asked) started.add(cronJob, jobName);
  toasts.say(`Started ${jobName}`, {
    tone: 'ok',
    ...clusters.offerIn(cluster, {
      action: { word: 'Open the run', href: addressOf('run', { namespace, name, jobName }) },
    }),
  });
  void live.reloadAll();
}

/** Suspends at once, and can be undone; where a run before tomorrow morning would not happen, it is asked first. */
async function askSuspend(cronJob: ActedOn): Promise<void> {
  const { namespace, name, nextRun } = cronJob;
  const suspend = (): Promise<void> => setSuspended(cronJob, true);
  if (nextRun === null || msOf(nextRun) >= endAt('morning', viewer)) return void atOnce(suspend);
  confirmation.ask({
    title: `Suspend ${namespace}/${name}?`,
    says: [`${nextRunText(cronJob, viewer)}: this run will not happen.`],
    note: await deadManWords(cronJob.monitorRef),
    action: 'Suspend',
    run: suspend,
  });
}

/** What the dead-man's switch does while a CronJob is suspended, by the spec of its monitor. */
async function deadManWords(monitor: ActedOn['monitorRef']): Promise<string> {
  const unread = "Whether the dead-man's switch pauses meanwhile is said by its monitor (suspendedHandling).";
  if (!monitor || !session.right('readMonitors', monitor.namespace).isAllowed) return unread;
  try {
    const { spec } = (await getMonitor(monitor)).value;
    const handling = spec['suspendedHandling'] as { readonly pauseMonitoring?: boolean } | undefined;
    return handling?.pauseMonitoring === false
      ? "The dead-man's switch goes on: without a success it fires."
      : "The dead-man's switch pauses meanwhile.";
  } catch {
    return unread; // the dialog must not wait for it
  }
}

/** Does it, and says why it could not be done; gives the cause. */
async function atOnce(run: () => Promise<void>): Promise<unknown> {
  try {
    await run();
    return undefined;
  } catch (error) {
    const cause = error instanceof Error ? error.cause : undefined;
    if (!isBeside(cause)) toasts.say(error instanceof Error ? error.message : 'It could not be done', { tone: 'crit' });
    return cause;
  }
}

async function setSuspended(cronJob: Ref, suspended: boolean): Promise<void> {
  const { namespace, name } = cronJob;
  const verb = suspended ? 'suspend' : 'resume';
  const cluster = clusters.asked;
  const result = await named(`Could not ${verb} ${namespace}/${name}`, () =>
    (suspended ? suspendCronJob : resumeCronJob)(cronJob),
  );
  const done = suspended ? 'Suspended' : 'Resumed';
  toasts.say(result.changed ? `${done} ${namespace}/${name}` : `${namespace}/${name} was so already`, {
    tone: 'ok',
    ...(result.changed
      ? clusters.offerIn(cluster, {
          action: { word: 'Undo', run: () => void atOnce(() => setSuspended(cronJob, !suspended)) },
        })
      : {}),
  });
  void live.reloadAll();
}
