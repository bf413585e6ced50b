import { createHash } from 'node:crypto';
import {
  annotationProblemsOf,
  type CronJobFacts,
  type Instant,
  type OwnSettings,
} from '@cronjob-monitor/shared/domain';
import { ClusterError, type Cluster, type CronJobWarning } from '@cronjob-monitor/shared/kube';
import type { Clock, Logger } from '@cronjob-monitor/shared/process';

/** Tells those who look at a CronJob in the cluster that an annotation of it cannot be used, and so counts as absent. */
interface AnnotationEvents {
  /** These CronJobs may have other annotations now. */
  readonly ask: (cronJobUids: Iterable<string>) => void;
  /** Until the signal aborts. */
  readonly begin: (signal: AbortSignal) => void;
}

const lookEveryMs = 1_000;
/** In one look: others need the API server too. */
const mostWrites = 5;
const refusedRestMs = 60_000;

/** An Event `InvalidAnnotation` for each value that cannot be used, once while this process leads. */
export function createAnnotationEvents({
  cluster,
  cronJobs,
  selection,
  clock,
  logger,
}: {
  readonly cluster: Pick<Cluster, 'createWarning'>;
  readonly cronJobs: { find(uid: string): CronJobFacts | undefined };
  readonly selection: { isMonitored(cronJobUid: string): boolean; ownOf(cronJob: CronJobFacts): OwnSettings };
  readonly clock: Clock;
  readonly logger: Logger;
}): AnnotationEvents {
  const asked = new Set<string>();
  /** Names of the Events, by CronJob. What counts as absent no more is forgotten. */
  const told = new Map<string, ReadonlySet<string>>();
  let restsUntilMs = -Infinity;
  let isRefused = false;

  return {
    ask(uids) {
      for (const uid of uids) asked.add(uid);
    },
    begin: (signal) => clock.every(lookEveryMs, () => look(signal), signal),
  };

  async function look(signal: AbortSignal): Promise<void> {
    if (clock.monotonicMs() < restsUntilMs) return;
    let left = mostWrites;
    for (const uid of asked) {
      asked.delete(uid);
      for (const warning of untoldOf(uid)) {
        if (left === 0 || !(await write(warning, signal))) {
          asked.add(uid);
          return;
        }
        left--;
        told.set(uid, new Set([...(told.get(uid) ?? []), warning.name]));
      }
    }
  }

  function untoldOf(uid: string): CronJobWarning[] {
    const cronJob = selection.isMonitored(uid) ? cronJobs.find(uid) : undefined;
    const warnings = cronJob ? warningsOf(cronJob, selection.ownOf(cronJob), clock.now()) : [];
    const names = new Set(warnings.map(({ name }) => name)).intersection(told.get(uid) ?? new Set());
    if (names.size > 0) told.set(uid, names);
    else told.delete(uid);
    return warnings.filter(({ name }) => !names.has(name));
  }

  /** False: it is to be tried again. */
  async function write(warning: CronJobWarning, signal: AbortSignal): Promise<boolean> {
    try {
      await cluster.createWarning(warning, signal);
      isRefused = false;
    } catch (error) {
      if (signal.aborted) return false;
      const { code } = error instanceof ClusterError ? error : {};
      // The cluster has it from an earlier leader, or its namespace is gone, or it takes no such Event.
      if (code === 'alreadyExists' || code === 'notFound' || code === 'invalid') return true;
      restsUntilMs = clock.monotonicMs() + refusedRestMs;
      if (!isRefused) logger.warn('annotations that cannot be used are not told by Events for now', { error });
      isRefused = true;
      return false;
    }
    return true;
  }
}

function warningsOf({ namespace, name, uid }: CronJobFacts, own: OwnSettings, at: Instant): CronJobWarning[] {
  return annotationProblemsOf(own, at)
    .filter(({ source }) => source === 'CronJob')
    .map(({ message }) => ({
      name: `${name}.${createHash('sha256').update(`${uid}\n${message}`).digest('hex').slice(0, 16)}`,
      cronJob: { namespace, name, uid },
      reason: 'InvalidAnnotation',
      message: `The annotation cronjob-monitor.io/${message}. It counts as absent.`,
      at,
    }));
}
