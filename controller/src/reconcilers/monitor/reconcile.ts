import type { Clock } from '@cronjob-monitor/shared/process';
import {
  judgeMonitor,
  phaseOf,
  statusDueAt,
  toConditions,
  toMonitorStatus,
  type Cluster,
  type ObjectKey,
  type StatusWriter,
} from '@cronjob-monitor/shared/kube';
import type { ComeBack } from '../../runtime/index.ts';
import { gatherMonitor, type MonitorSources } from './gather.ts';
import type { MonitorLint } from './lint.ts';
import type { MonitorRecords } from './record.ts';

interface MonitorReconcilerDeps {
  readonly sources: MonitorSources;
  readonly records: MonitorRecords;
  /** Undefined: settings are not looked at. */
  readonly lint?: MonitorLint | undefined;
  readonly cluster: Pick<Cluster, 'patchMonitorStatus'>;
  /** The API server refused the last status of it: the right to write it may come. */
  readonly isStatusRefused?: ((key: ObjectKey) => boolean) | undefined;
  /** Which installation this is; undefined: the status does not name it. */
  readonly writtenBy?: (() => StatusWriter | undefined) | undefined;
  readonly clock: Clock;
  /** These CronJobs are watched from now on: rows for them and for the runs they have had. */
  readonly onTargetsAdded: (cronJobUids: readonly string[]) => void;
  /** What is asked about these CronJobs, or by whom, is another thing now. */
  readonly onJudgedOtherwise: (cronJobUids: readonly string[]) => void;
}

/**
 * CronJobs are given their rows by their own reconciler: targets that are ahead of it wait so long. Thousands of them are not looked
 * through each second while their rows are being written.
 */
const unknownAgainMs = (count: number): number => (count < 500 ? 1_000 : 5_000);
/** A status that was refused is tried again after so long. */
const refusedAgainMs = 30_000;

/** One monitor: from what the cluster says to its row, its targets and its status. A second run changes nothing. */
export async function reconcileMonitor(
  uid: string,
  deps: MonitorReconcilerDeps,
  signal: AbortSignal,
): Promise<ComeBack> {
  const now = deps.clock.now();
  const gathered = gatherMonitor(uid, deps.sources, now);
  if (!gathered) {
    deps.lint?.forget(uid);
    const left = await deps.records.forget(uid, now); // its history stays until retention takes it
    if (left === undefined) return now + unknownAgainMs(0);
    deps.onJudgedOtherwise(left);
    return undefined;
  }
  const { monitor } = gathered;
  const findings = (await deps.lint?.findings(gathered, now)) ?? [];
  const rollouts = await deps.records.readRollouts(gathered);
  const verdicts = judgeMonitor({ ...gathered.facts, findings, rollouts });
  const earlier = (monitor.status as { conditions?: unknown } | null | undefined)?.conditions;
  const conditions = toConditions(verdicts, earlier, { now, generation: monitor.generation });
  const phase = phaseOf(verdicts);

  const { added, removed, unknown, isRespecified } = await deps.records.write(gathered, { phase, conditions }, now);
  if (added.length > 0) deps.onTargetsAdded(added);
  const selected = isRespecified ? gathered.selected.map((cronJob) => cronJob.uid) : added;
  if (selected.length + removed.length > 0) deps.onJudgedOtherwise([...selected, ...removed]);

  const health = await deps.records.readHealth(gathered, now);
  const status = toMonitorStatus({
    phase,
    conditions,
    generation: monitor.generation,
    evaluatedAt: now,
    health,
    writtenBy: deps.writtenBy?.(),
  });
  const dueAt = statusDueAt(monitor.status, status, now);
  const mayWrite = dueAt !== undefined && dueAt <= now;
  const key = { namespace: monitor.namespace, name: monitor.name };
  if (mayWrite) {
    await deps.cluster.patchMonitorStatus(key, status, monitor.resourceVersion || undefined, signal);
  }
  const unread = rollouts === undefined && gathered.selected.length > 0 ? gathered.selected.length : unknown.length;
  if (unread > 0) return now + unknownAgainMs(unread);
  if (deps.isStatusRefused?.(key)) return now + refusedAgainMs;
  return mayWrite ? now + 300_000 : dueAt;
}
