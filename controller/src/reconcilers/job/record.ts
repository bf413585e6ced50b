import { isDeepStrictEqual } from 'node:util';
import {
  slotOf,
  type Execution,
  type Instant,
  type JobFacts,
  type SlotClaim,
  findNotStarted,
  hopelessWaitOf,
  refusedCreate,
  originOf,
  suspendedJob,
  type PodFacts,
} from '@cronjob-monitor/shared/domain';
import {
  listWatchedSince,
  listIncompleteRuns,
  listRecordedJobs,
  listSlotClaims,
  putActiveJobs,
  recordRuns,
  settleRunFacts,
  updateExecutionEvidence,
  type ActiveJob,
  type CountedRunOf,
  type Store,
  type Tx,
} from '@cronjob-monitor/shared/store';
import type { Redaction } from '@cronjob-monitor/shared/kube';
import type { GatheredJob } from './gather.ts';

/** What the store knows that the cluster does not. */
interface RecordedContext {
  judgedSinceAt(cronJobUid: string): Instant | undefined;
  claimsOf(job: JobFacts): readonly SlotClaim[];
}

interface RecordedEnds {
  /** Runs that got their row now: the ones that metrics count. */
  readonly counted: readonly Execution[];
  /** UIDs of Jobs whose CronJob has no row yet. */
  readonly orphaned: ReadonlySet<string>;
  /** UIDs of Jobs that another batch recorded in the same moment, maybe with less than is known here. */
  readonly overtaken: ReadonlySet<string>;
  /** CronJobs of runs that had their row before what they said of their output was known. */
  readonly factsOf: ReadonlySet<string>;
  /** CronJobs of runs that had their row before it was known why they failed. */
  readonly completedOf: ReadonlySet<string>;
}

const noEnds: RecordedEnds = {
  counted: [],
  orphaned: new Set(),
  overtaken: new Set(),
  factsOf: new Set(),
  completedOf: new Set(),
};

/** One whose end was not seen has nothing to add to its row. */
function overtakenOf(runs: readonly Execution[], known: readonly string[]): ReadonlySet<string> {
  const seen = runs.flatMap(({ jobUid, status }) => (status === 'unobserved' ? [] : jobUid));
  return new Set(seen).intersection(new Set(known));
}

/** All that the Job reconciler reads from and writes to the store. */
export interface JobRecords {
  readContext(jobs: readonly GatheredJob[], claimants: readonly GatheredJob[]): Promise<RecordedContext>;
  /** Each ended run becomes one row; one that has its row already only gains what it lacks. */
  recordEnded(executions: readonly Execution[]): Promise<RecordedEnds>;
  /** Jobs that go on, as they are now; nothing of those whose CronJob has no row yet. Rows change by time alone at `againAt`, by UID. */
  recordRunning(
    jobs: readonly GatheredJob[],
    now: Instant,
  ): Promise<{ readonly orphaned: ReadonlySet<string>; readonly againAt: ReadonlyMap<string, Instant> }>;
}

interface JobRecordDeps {
  readonly store: Store;
  readonly epoch: number;
  /** What Kubernetes says of a wait repeats what people wrote: names, arguments, answers of webhooks. */
  readonly redaction: Pick<Redaction, 'messages'>;
}

/** What follows from a run is written with it. */
interface RunJudge<Outcome = unknown> {
  /** Inside the transaction that records these runs; it may be repeated. */
  readonly judge: (tx: Tx, counted: readonly CountedRunOf[]) => Promise<Outcome>;
  /** The transaction is committed. */
  readonly committed: (outcome: Outcome) => void;
}

export function createJobRecords<Outcome>(
  { store, epoch, redaction }: JobRecordDeps,
  judge: RunJudge<Outcome>,
): JobRecords {
  /** The row last written for a running Job: most events change nothing that is shown. */
  const written = new Map<string, ActiveJob>();

  return {
    async readContext(jobs, claimants) {
      const cronJobUids = [...new Set(jobs.map((job) => job.snapshot.job.cronJobUid))];
      const watchedSince = await listWatchedSince(store, cronJobUids);
      const named = claimants.flatMap(({ snapshot: { job } }) => {
        const slotAt = slotOf(job);
        return slotAt === undefined ? [] : [{ cronJobUid: job.cronJobUid, slotAt }];
      });
      const claims = named.length === 0 ? [] : await listSlotClaims(store, named);
      return {
        judgedSinceAt: (uid) => watchedSince.get(uid),
        claimsOf: (job) => claims.filter((claim) => claim.cronJobUid === job.cronJobUid),
      };
    },

    async recordEnded(executions) {
      if (executions.length === 0) return noEnds;
      // Most ended Jobs that a start finds are recorded already: one read spares them the transaction.
      const uids = executions.map((execution) => execution.jobUid);
      const known = await listRecordedJobs(store, uids);
      const completedOf = await completeRecords(executions.filter(({ jobUid }) => known.has(jobUid)));
      const factsOf = await completeFacts(
        { store, epoch },
        executions.filter(({ jobUid }) => known.get(jobUid)?.factsUnknown),
      );
      const fresh = executions.filter((execution) => !known.has(execution.jobUid));
      if (fresh.length === 0) return { ...noEnds, factsOf, completedOf };
      let judged: { readonly outcome: Outcome } | undefined;
      const outcome = await recordRuns(store, epoch, fresh, async (tx, rows) => {
        judged = { outcome: await judge.judge(tx, rows) };
      });
      if (judged) judge.committed(judged.outcome);
      const counted = new Set([...outcome.inserted, ...outcome.replaced]);
      for (const { jobUid } of fresh) written.delete(jobUid);
      return {
        counted: fresh.filter(({ jobUid }) => counted.has(jobUid)),
        orphaned: new Set(outcome.orphaned),
        overtaken: overtakenOf(fresh, outcome.known),
        factsOf,
        completedOf,
      };
    },

    async recordRunning(jobs, now) {
      const found = jobs.map((job) => toActiveJob(job, now));
      const againAt = new Map(found.flatMap(({ row, againAt: at }) => (at === undefined ? [] : [[row.jobUid, at]])));
      const rows = found.map(({ row }) => row).filter((row) => !isDeepStrictEqual(written.get(row.jobUid), row));
      if (rows.length === 0) return { orphaned: new Set(), againAt };
      const safe = await withSafeMessages(rows);
      const orphaned = new Set(await store.fenced(epoch, (tx) => putActiveJobs(tx, safe)));
      for (const row of rows) if (!orphaned.has(row.jobUid)) written.set(row.jobUid, row);
      return { orphaned, againAt };
    },
  };

  async function withSafeMessages(rows: readonly ActiveJob[]): Promise<readonly ActiveJob[]> {
    const told = rows.flatMap(({ waitingMessage }) => waitingMessage ?? []);
    if (told.length === 0) return rows;
    const safe = (await redaction.messages(told)).values();
    return rows.map((row) => (row.waitingMessage === undefined ? row : { ...row, waitingMessage: safe.next().value }));
  }

  /**
   * A failed run whose pods were seen only after its end still gets its exit code, and one whose memory ran out that word. Answers whose runs
   * gained something.
   */
  async function completeRecords(executions: readonly Execution[]): Promise<ReadonlySet<string>> {
    const completedOf = new Set<string>();
    const telling = executions.filter(
      ({ status, exitCode, reason }) => status === 'failed' && (exitCode ?? reason) !== undefined,
    );
    if (telling.length === 0) return completedOf;
    const incomplete = await listIncompleteRuns(store, telling);
    for (const { jobUid, cronJobUid, exitCode, reason, attempts, failedIndexes, node, fault } of telling) {
      if (!incomplete.has(jobUid)) continue;
      const facts = { exitCode, reason, attempts, failedIndexes, node, fault };
      if (await updateExecutionEvidence(store, epoch, jobUid, facts)) completedOf.add(cronJobUid);
    }
    return completedOf;
  }
}

/** The end of a Job is often seen before that of its pods, which say what its output was. Answers whose runs said something new. */
async function completeFacts(
  { store, epoch }: Pick<JobRecordDeps, 'store' | 'epoch'>,
  executions: readonly Execution[],
): Promise<ReadonlySet<string>> {
  const factsOf = new Set<string>();
  for (const { jobUid, cronJobUid, output, factsUnknown } of executions) {
    if (factsUnknown) continue;
    const said = output ?? { values: new Map(), problems: [] };
    const settled = await store.fenced(epoch, (tx) => settleRunFacts(tx, jobUid, said));
    if (settled !== undefined) factsOf.add(cronJobUid);
  }
  return factsOf;
}

/**
 * The row of a Job that has not ended, with the pod that shows best how it fares: the newest. `againAt`: when it has to be written anew although
 * nothing happens, for a wait may prove hopeless by time alone.
 */
function toActiveJob(
  { snapshot: { job }, pods, refusal }: GatheredJob,
  now: Instant,
): { readonly row: ActiveJob; readonly againAt: Instant | undefined } {
  const { uid: jobUid, cronJobUid, name: jobName, createdAt } = job;
  const of = { jobUid, cronJobUid, jobName, ...originOf(job, []), createdAt, finishing: job.decidedAt !== undefined };
  if (job.suspended && job.decidedAt === undefined) {
    // It does not run, whatever its pods and its start say: they go, and that is set anew as it resumes.
    const none = { startedAt: undefined, podName: undefined, podPhase: undefined, ready: undefined };
    const waits = { waitingReason: suspendedJob, waitingMessage: 'the Job has spec.suspend: true' };
    return { row: { ...of, ...none, ...waits }, againAt: undefined };
  }
  const newest = pods.reduce<PodFacts | undefined>((a, b) => (a && a.createdAt >= b.createdAt ? a : b), undefined);
  const regular = newest?.containers.filter((container) => !container.init) ?? [];
  const hopeless = hopelessWaitOf(job, pods, refusal);
  const events = refusal ? [{ reason: refusedCreate, message: refusal.message }] : [];
  const wait = hopeless ?? findNotStarted(job, pods, events);
  const row = {
    ...of,
    startedAt: job.startedAt,
    podName: newest?.name,
    podPhase: newest?.phase,
    ready: newest && `${regular.filter((container) => container.ready).length}/${regular.length}`,
    waitingReason: wait?.reason,
    waitingMessage: wait?.reason === undefined ? undefined : wait.message,
    hopelessSinceAt: hopeless && now >= hopeless.fromAt ? hopeless.sinceAt : undefined,
  } as const;
  return { row, againAt: hopeless && now < hopeless.fromAt ? hopeless.fromAt : undefined };
}
