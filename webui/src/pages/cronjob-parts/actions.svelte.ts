import { isGroupName, type CronJob, type Ref } from '@cronjob-monitor/shared/contract';
import { resumeCronJob, suspendCronJob, triggerCronJob } from '../../api/cronjobs.ts';
import { named } from '../../api/named.ts';
import { isServed } from '../../api/served.ts';
import { describeCronJob, jobsOf } from '../../format/kubectl.ts';
import { nextRunText } from '../../format/next-run.ts';
import { plural } from '../../format/figures.ts';
import { confirmation } from '../../kit/confirm/confirm.svelte.ts';
import { copyText } from '../../kit/copy-button/copy-text.ts';
import type { MenuItem } from '../../kit/menu/menu-item.ts';
import { toasts } from '../../kit/toast/toasts.svelte.ts';
import { addressOf } from '../../router.svelte.ts';
import { live } from '../../state/live.svelte.ts';
import { session } from '../../state/session.svelte.ts';
import { viewer } from '../../state/viewer.svelte.ts';
import { silenceItems } from '../alert-parts/alert-actions.svelte.ts';

export type ActedOn = Pick<
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
export interface CronJobAction {
  readonly id: 'trigger' | 'suspend' | 'resume';
  readonly word: string;
  readonly missing: string | undefined;
  readonly run: () => void;
}

/** What this version of the service can do with a CronJob; without the right it is shown and says what is missing. Nothing with a group of Jobs. */
export function actionsOf(cronJob: ActedOn): CronJobAction[] {
  if (isGroupName(cronJob.name)) return [];
  const gone = cronJob.deletedAt === null ? undefined : 'It was deleted';
  const actions: CronJobAction[] = [];
  if (isServed('trigger')) {
    const missing = gone ?? session.right('trigger', cronJob.namespace).missing;
    actions.push({ id: 'trigger', word: 'Trigger', missing, run: () => askTrigger(cronJob) });
  }
  if (isServed('suspend')) {
    const missing = gone ?? session.right('suspend', cronJob.namespace).missing;
    actions.push(
      cronJob.suspended
        ? { id: 'resume', word: 'Resume', missing, run: () => askResume(cronJob) }
        : { id: 'suspend', word: 'Suspend', missing, run: () => askSuspend(cronJob) },
    );
  }
  return actions;
}

/** The menu of a row. */
export function menuOf(cronJob: ActedOn): MenuItem[] {
  const monitor = cronJob.monitorRef;
  return [
    { word: 'Open', href: addressOf('cronjob', { namespace: cronJob.namespace, name: cronJob.name }) },
    ...(monitor
      ? [{ word: `Monitor ${monitor.namespace}/${monitor.name}`, href: addressOf('monitor', { ...monitor }) }]
      : []),
    ...actionsOf(cronJob).map(({ word, missing, run }, index) => ({ word, missing, run, isApart: index === 0 })),
    ...silenceItems(cronJob),
    ...(isGroupName(cronJob.name)
      ? []
      : [{ word: 'Copy kubectl command', run: () => void copyCommand(describeCronJob(cronJob)), isApart: true }]),
    { word: 'Copy name', run: () => void copyCommand(`${cronJob.namespace}/${cronJob.name}`) },
  ];
}

/** What the page of a CronJob, or of a group of Jobs, offers besides its actions. */
export function moreOf(cronJob: Ref): MenuItem[] {
  const commands = [
    { word: 'Copy kubectl describe', run: () => void copyCommand(describeCronJob(cronJob)) },
    { word: 'Copy kubectl get jobs', run: () => void copyCommand(jobsOf(cronJob)) },
  ];
  const ofCronJob = isGroupName(cronJob.name) ? [] : commands;
  return [...silenceItems(cronJob), ...ofCronJob, { word: 'Print', run: () => print() }];
}

/** The lists that a CronJob, or a group of Jobs, is in. */
export function crumbsOf({ namespace, name }: Ref): { readonly word: string; readonly href: string }[] {
  const kind = isGroupName(name) ? 'Jobs' : undefined;
  return [
    { word: kind ?? 'CronJobs', href: addressOf('cronjobs', {}, { kind }) },
    { word: namespace, href: addressOf('cronjobs', {}, { kind, ns: namespace }) },
  ];
}

export async function copyCommand(text: string): Promise<void> {
  const result = await copyText(text);
  toasts.say(result === 'copied' ? 'Copied' : `The clipboard was refused. The text: ${text}`);
}

function askTrigger(cronJob: ActedOn): void {
  const { runningJobs, concurrencyPolicy } = cronJob;
  const active =
    runningJobs === 0
      ? 'Nothing is active.'
      : `${plural(runningJobs, 'Job')} of it ${runningJobs === 1 ? 'is' : 'are'} active.`;
  const refuses = runningJobs > 0 && concurrencyPolicy !== 'Allow';
  confirmation.ask({
    title: `Trigger ${cronJob.namespace}/${cronJob.name}?`,
    says: [
      refuses
        ? `${active} Its policy is ${concurrencyPolicy}: a run now starts beside it and deletes nothing.`
        : `${active} It starts now, beside its schedule.`,
    ],
    note: "Manual runs do not count for SLA. They count for the dead-man's switch.",
    action: refuses ? 'Start beside it' : 'Trigger',
    run: () => trigger(cronJob, refuses),
  });
}

async function trigger(cronJob: Ref, force: boolean): Promise<void> {
  const { namespace, name } = cronJob;
  const { jobName } = await named(`Could not trigger ${namespace}/${name}`, () => triggerCronJob(cronJob, force));
  toasts.say(`Started ${jobName}`, {
    tone: 'ok',
    action: { word: 'Open the run', href: addressOf('run', { namespace, name, jobName }) },
  });
  void live.reloadAll();
}

function askSuspend(cronJob: ActedOn): void {
  confirmation.ask({
    title: `Suspend ${cronJob.namespace}/${cronJob.name}?`,
    says: [
      cronJob.nextRun === null ? 'It has no next run.' : `${nextRunText(cronJob, viewer)}: this run will not happen.`,
    ],
    note: "Whether the dead-man's switch pauses meanwhile is said by its monitor (suspendedHandling).",
    action: 'Suspend',
    run: () => setSuspended(cronJob, true),
  });
}

function askResume(cronJob: ActedOn): void {
  confirmation.ask({
    title: `Resume ${cronJob.namespace}/${cronJob.name}?`,
    says: ['It runs again by its schedule. A run that was due within startingDeadlineSeconds starts at once.'],
    action: 'Resume',
    run: () => setSuspended(cronJob, false),
  });
}

async function setSuspended(cronJob: Ref, suspended: boolean): Promise<void> {
  const { namespace, name } = cronJob;
  const verb = suspended ? 'suspend' : 'resume';
  const result = await named(`Could not ${verb} ${namespace}/${name}`, () =>
    (suspended ? suspendCronJob : resumeCronJob)(cronJob),
  );
  const done = suspended ? 'Suspended' : 'Resumed';
  toasts.say(result.changed ? `${done} ${namespace}/${name}` : `${namespace}/${name} was so already`, {
    tone: 'ok',
    ...(result.changed ? { action: { word: 'Undo', run: () => void undo(cronJob, !suspended) } } : {}),
  });
  void live.reloadAll();
}

async function undo(cronJob: Ref, suspended: boolean): Promise<void> {
  try {
    await setSuspended(cronJob, suspended);
  } catch (error) {
    toasts.say(error instanceof Error ? error.message : 'Could not undo it', { tone: 'crit' });
  }
}
