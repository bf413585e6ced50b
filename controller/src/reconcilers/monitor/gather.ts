import {
  namedChannels,
  type Admitting,
  type CronJobFacts,
  type Instant,
  refText,
} from '@cronjob-monitor/shared/domain';
import { alertRulesOf, type MonitorFacts, type ScheduleFault } from '@cronjob-monitor/shared/kube';
import type { ScheduleProblem } from '@cronjob-monitor/shared/contract';
import type { ChannelSeen, MonitorSeen, Selection } from '../../selection/index.ts';

/** Where a monitor's facts lie; all of it in memory. */
export interface MonitorSources {
  readonly monitors: { find(uid: string): MonitorSeen | undefined };
  readonly channels: { findByName(namespace: string, name: string): ChannelSeen | undefined };
  readonly selection: Selection;
  /** Why the schedule of a CronJob cannot be evaluated. */
  readonly scheduleProblemOf: (cronJob: CronJobFacts, now: Instant) => ScheduleProblem | undefined;
  /** Groups of Jobs that it selects and that are too many to be watched. */
  readonly refusedGroupsOf?: ((monitorUid: string) => MonitorFacts['refusedGroups']) | undefined;
  /** Which CronJobs that it expects are not there; undefined: that was not asked yet. */
  readonly expectationsOf?: ((monitorUid: string) => MonitorFacts['expectations']) | undefined;
}

export interface GatheredMonitor {
  readonly monitor: MonitorSeen;
  readonly selected: readonly CronJobFacts[];
  /** UIDs of those it leads: its windows and target are the ones that the CronJob shows. */
  readonly leads: ReadonlySet<string>;
  readonly facts: MonitorFacts;
}

const faultOf: Readonly<Record<ScheduleProblem, ScheduleFault>> = {
  unparsable: 'ScheduleInvalid',
  unknownZone: 'ZoneUnknown',
  zoneMismatch: 'ZoneMismatch',
  neverRuns: 'ScheduleNeverFires',
};

/** Undefined when the monitor is gone. */
export function gatherMonitor(uid: string, from: MonitorSources, now: Instant): GatheredMonitor | undefined {
  const monitor = from.monitors.find(uid);
  if (!monitor) return undefined;
  const selected = from.selection.cronJobsOf(monitor);
  const leads = selected.filter((cronJob) => from.selection.monitorsOf(cronJob)[0]?.uid === uid);
  return {
    monitor,
    selected,
    leads: new Set(leads.map((cronJob) => cronJob.uid)),
    facts: {
      decoded: monitor.decoded,
      evaluation: 'done',
      reach: from.selection.reachOf(monitor),
      ...channelsOf(monitor, selected, from),
      scheduleFaults: selected.flatMap((cronJob) => {
        const problem = from.scheduleProblemOf(cronJob, now);
        return problem ? [{ namespace: cronJob.namespace, name: cronJob.name, fault: faultIn(problem, cronJob) }] : [];
      }),
      expectations: from.expectationsOf?.(uid),
      selected: selected.length,
      refusedGroups: from.refusedGroupsOf?.(uid),
      findings: [],
    },
  };
}

function faultIn(problem: ScheduleProblem, cronJob: CronJobFacts): ScheduleFault {
  return problem === 'neverRuns' && cronJob.schedule.includes('@every') ? 'EveryNeverRuns' : faultOf[problem];
}

/** So many CronJobs of one fault are asked about: the condition names no more. */
const mostChannelFaults = 20;

/** The channels that are named for it, by itself and by the owners of its CronJobs, and what is wrong with them. */
function channelsOf(
  monitor: MonitorSeen,
  selected: readonly CronJobFacts[],
  { channels, selection }: MonitorSources,
): Pick<MonitorFacts, 'channelFaults' | 'channelNames'> {
  const seen = (name: string): ChannelSeen | undefined => channels.findByName('', name);
  const admitting = (name: string): Admitting | undefined => {
    const channel = seen(name);
    return channel && { allowedNamespaces: channel.decoded.spec?.allowedNamespaces };
  };
  const faults = new Map<string, MonitorFacts['channelFaults'][number]>();
  const names = new Set<string>();
  const asked = new Set<unknown>();
  // One that selects nothing has channels too.
  for (const cronJob of selected.length === 0 ? [{ namespace: monitor.namespace, name: '' }] : selected) {
    const settings = selection.effectiveOf(monitor, cronJob);
    // Most CronJobs share one.
    if (!settings || asked.has(settings)) continue;
    asked.add(settings);
    for (const { name, via, reason, isOwned } of namedChannels(alertRulesOf(settings).alerting, admitting)) {
      const isMissing = reason === 'unknownChannel';
      if (isMissing && isOwned) continue;
      names.add(name);
      const notReady = notReadyReason(seen(name)?.status);
      if (faults.size >= mostChannelFaults || (reason === undefined && notReady === undefined)) continue;
      const annotationOf = via === 'annotation' ? refText(cronJob) : undefined;
      const asking = via === 'channelRefs' ? monitor.namespace : `${monitor.namespace} or ${cronJob.namespace}`;
      const notAllowed = via === 'annotation' ? cronJob.namespace : asking;
      const fault = isMissing ? 'missing' : reason === undefined ? { notReady: notReady ?? '' } : { notAllowed };
      faults.set(`${name} ${annotationOf ?? ''}`, { name, annotationOf, fault });
    }
  }
  return { channelFaults: [...faults.values()], channelNames: [...names] };
}

/** What the channel's own status says; a channel that was not looked at yet is no fault. */
export function notReadyReason(status: unknown): string | undefined {
  const conditions = (status as { conditions?: unknown } | null | undefined)?.conditions;
  if (!Array.isArray(conditions)) return undefined;
  for (const condition of conditions as readonly Readonly<Record<string, unknown>>[]) {
    if (condition?.['type'] === 'Ready' && condition['status'] === 'False')
      return String(condition['message'] ?? condition['reason']);
  }
  return undefined;
}
