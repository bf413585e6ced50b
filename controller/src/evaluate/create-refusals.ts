import {
  refusalIn,
  type CreateRefusal,
  type Instant,
  type JobFacts,
  type PodFacts,
} from '@cronjob-monitor/shared/domain';
import type { Cluster, Redaction } from '@cronjob-monitor/shared/kube';
import type { Clock } from '@cronjob-monitor/shared/process';

/** Which Jobs have no pods because the cluster refuses them. Only events of the Job say so: its status does not. */
export interface CreateRefusals {
  /** As far as the events were read; undefined: nothing is known of a refusal. */
  readonly of: (jobUid: string) => CreateRefusal | undefined;
  /** Looks for Jobs without pods until the signal aborts. */
  readonly watch: (signal: AbortSignal) => void;
}

interface Read {
  readonly refusal: CreateRefusal | undefined;
  readonly atMs: number;
  /** How often nothing was found in a row: such a Job waits for something else. */
  readonly empty: number;
}

const lookEveryMs = 5_000;
/** A Job has its pods within a second or two; the first back-offs of its controller are as short. */
const podsWithinMs = 10_000;
const readAgainMs = 60_000;
const leastOftenMs = 600_000;
const mostReadsPerLook = 10;

export function createCreateRefusals(deps: {
  readonly cluster: Pick<Cluster, 'listEvents'>;
  readonly jobs: { values(): Iterable<JobFacts> };
  readonly podsOf: (jobUid: string) => readonly PodFacts[];
  readonly isMonitored: (cronJobUid: string) => boolean;
  /** Messages of events are untrusted. */
  readonly redaction: Pick<Redaction, 'messages'>;
  /** What is known of the Job has changed. */
  readonly onChanged: (job: JobFacts) => void;
  readonly clock: Clock;
  readonly background: (name: string, work: Promise<void>) => void;
}): CreateRefusals {
  const { clock } = deps;
  const reads = new Map<string, Read>();
  let isLooking = false;

  return {
    of: (jobUid) => reads.get(jobUid)?.refusal,
    watch(signal) {
      const look = (): void => {
        if (!isLooking) deps.background('refused pods', lookOnce(signal));
      };
      clock.every(lookEveryMs, look, signal);
    },
  };

  async function lookOnce(signal: AbortSignal): Promise<void> {
    isLooking = true;
    try {
      const podless = findPodless(clock.now());
      const uids = new Set(podless.map(({ uid }) => uid));
      for (const uid of reads.keys()) if (!uids.has(uid)) reads.delete(uid);
      const nowMs = clock.monotonicMs();
      const due = podless.filter(({ uid }) => nowMs >= nextReadMs(reads.get(uid)));
      // Those never read come first: thousands that wait must not hide one that is refused.
      due.sort((a, b) => (reads.get(a.uid)?.atMs ?? -1) - (reads.get(b.uid)?.atMs ?? -1));
      await Promise.all(due.slice(0, mostReadsPerLook).map((job) => read(job, signal)));
    } finally {
      isLooking = false;
    }
  }

  function findPodless(now: Instant): JobFacts[] {
    const found: JobFacts[] = [];
    for (const job of deps.jobs.values()) {
      if (job.outcome !== undefined || job.decidedAs !== undefined || job.suspended || job.activePods > 0) continue;
      if (job.deletingAt !== undefined || now - (job.startedAt ?? job.createdAt) < podsWithinMs) continue;
      if (!deps.isMonitored(job.cronJobUid) || deps.podsOf(job.uid).some(isUnfinished)) continue;
      found.push(job);
    }
    return found;
  }

  /** Never fails: what cannot be read explains nothing, and what was known before stays. */
  async function read(job: JobFacts, signal: AbortSignal): Promise<void> {
    const before = reads.get(job.uid);
    const events = await deps.cluster.listEvents(job.namespace, job.uid, signal).catch(() => undefined);
    if (signal.aborted) return;
    const found = events && refusalIn(events);
    const [message = ''] = found ? await deps.redaction.messages([found.message]) : [];
    const refusal = found ? { ...found, message } : before?.refusal;
    reads.set(job.uid, { refusal, atMs: clock.monotonicMs(), empty: found ? 0 : (before?.empty ?? 0) + 1 });
    if (refusal?.lastAt !== before?.refusal?.lastAt || refusal?.message !== before?.refusal?.message)
      deps.onChanged(job);
  }
}

function nextReadMs(read: Read | undefined): number {
  if (!read) return 0;
  return read.atMs + Math.min(leastOftenMs, readAgainMs * 2 ** Math.max(0, read.empty - 1));
}

function isUnfinished({ phase, deletingAt }: PodFacts): boolean {
  return phase !== 'Succeeded' && phase !== 'Failed' && deletingAt === undefined;
}
