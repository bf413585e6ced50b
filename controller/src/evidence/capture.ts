import {
  type Evidence,
  type Execution,
  type Instant,
  type JobFacts,
  type KeptEvent,
  type PodFacts,
  redactionMarginBytes,
  toAttempts,
} from '@cronjob-monitor/shared/domain';
import { type Cluster, createInstalledRedaction, type Redaction } from '@cronjob-monitor/shared/kube';
import { type Clock, createBudgetedThread, type Logger } from '@cronjob-monitor/shared/process';
import { readLogTail } from './log-tail.ts';
import type { EventReader } from './event-reader.ts';
import type { ReadPool } from './read-pool.ts';
import type { EvidenceBook } from './book.ts';
import { type EvidenceWishes, logsOfStuck, logsWorthReading, type WantedLog } from './wanted.ts';

export interface CaptureDeps {
  readonly cluster: Cluster;
  readonly pool: ReadPool;
  readonly eventReader: EventReader;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly readTimeoutMs: number;
  readonly maxAttempts: number;
  /** Makes what strangers wrote safe to store: NUL, broken UTF-8, control characters, secrets. */
  readonly redaction: Pick<Redaction, 'log' | 'messages'>;
  readonly keep: (evidence: readonly Evidence[]) => Promise<void>;
  /** Holds the evidence that explains a run, also evidence that is not stored. */
  readonly book: EvidenceBook;
  /** Hears the result of each log: `ok`, or why the log could not be read. */
  readonly onRead: (result: string) => void;
  /** Runs beside everything else; its failure is logged, never thrown. */
  readonly background: (name: string, work: Promise<void>) => void;
  readonly signal: AbortSignal;
}

/** A run whose evidence may be worth storing now. */
interface CaptureRequest {
  readonly job: JobFacts;
  readonly pods: readonly PodFacts[];
  /** Set when the run has ended. */
  readonly execution: Execution | undefined;
  readonly wishes: EvidenceWishes;
}

export interface Capture {
  /** Begins to take the evidence that exists now and was not taken before. Returns at once. */
  request(request: CaptureRequest): void;
  /** Takes, once for each Job, evidence of why the Job does not end. It is not stored: the run has no row yet. */
  requestOfStuck(request: Omit<CaptureRequest, 'execution'>): void;
  /** Resolves when the database holds all evidence of the run that is to be stored. */
  whenKept(jobUid: string): Promise<void>;
  /** Forgets which evidence was taken: the run is long over. */
  forget(jobUid: string): void;
}

const mostTailLines = 10_000;
/** The Job controller writes its last event about a Job within this time after the Job's end, whose instant has whole seconds. */
const lastEventsMs = 3_000;
const endIsCutByMs = 1_000;

/** Reads logs, events and pods of runs when they end and before they are deleted, in the background of recording. */
export function createCapture(deps: CaptureDeps): Capture {
  /** Reads that were begun, by Job UID: each log of an attempt is read once. */
  const begun = new Map<string, Set<string>>();
  const images = createImageMemory();

  const once = (jobUid: string, what: string): boolean => {
    let set = begun.get(jobUid);
    if (!set) begun.set(jobUid, (set = new Set()));
    if (set.has(what)) return false;
    set.add(what);
    return true;
  };
  const keeping = new Map<string, Promise<unknown>>();

  const keep = async (piece: Evidence): Promise<void> => {
    const work = deps.keep([piece]);
    const all = Promise.allSettled([keeping.get(piece.owner), work]);
    keeping.set(piece.owner, all);
    await all;
    if (keeping.get(piece.owner) === all) keeping.delete(piece.owner);
    return work;
  };
  /** A message waits for the reading of evidence, not for its storage. */
  const takeAndKeep = async (job: JobFacts, work: Promise<Evidence>, { isKept, isNoted }: Fate): Promise<void> => {
    const noted = work.then((piece) => void (isNoted && deps.book.add(job.uid, piece)));
    await deps.book.during(job.uid, noted);
    if (isKept) await keep(await work);
  };
  const beside = (name: string, job: JobFacts, work: Promise<Evidence>, fate: Fate): void =>
    deps.background(name, takeAndKeep(job, work, fate));

  return {
    request({ job, pods, execution, wishes }) {
      const fails = job.outcome !== 'success' && job.decidedAs !== 'success';
      const explains = wishes.explain && fails;
      if (wishes.logs || explains) {
        for (const log of logsWorthReading(job, pods, wishes, deps.maxAttempts)) {
          if (once(job.uid, `${log.pod.uid}/${log.container}`))
            beside('log of a run', job, takeLog(job, log, { ...deps, ...wishes, isNoted: explains }), {
              isKept: wishes.logs,
              isNoted: explains,
            });
        }
      }
      if (!execution) return;
      const lastInMs = lastEventsInMs(execution.finishedAt, deps.clock.now());
      const areAll = lastInMs <= 0;
      if ((explains || (wishes.events && areAll)) && once(job.uid, 'events')) {
        beside('events of a run', job, takeEvents(job, pods, deps), {
          isKept: wishes.events && areAll,
          isNoted: explains,
        });
      }
      // Events written after the end only repeat it: they are stored, and no message waits for them.
      if (wishes.events && !areAll && once(job.uid, 'last events')) {
        deps.background('last events of a run', takeLastEvents(job, pods, lastInMs, deps).then(keep));
      }
      const isTelling = execution.status !== 'success' || execution.attempts > 1;
      if (pods.length === 0 || !once(job.uid, `attempts ${pods.length}`)) return;
      if (images.isNews(job.cronJobUid, pods) || isTelling) {
        beside('attempts of a run', job, takeAttempts(job, pods, deps), { isKept: true, isNoted: explains });
      }
    },
    requestOfStuck({ job, pods, wishes }) {
      if (!once(job.uid, 'stuck')) return;
      for (const log of logsOfStuck(pods, deps.maxAttempts)) {
        beside('log of a stuck run', job, takeLog(job, log, { ...deps, ...wishes, isNoted: true }), onlyNoted);
      }
      beside('events of a stuck run', job, takeEvents(job, pods, deps), onlyNoted);
      if (pods.length > 0) beside('pods of a stuck run', job, takeAttempts(job, pods, deps), onlyNoted);
    },
    async whenKept(jobUid) {
      await keeping.get(jobUid);
    },
    forget(jobUid) {
      begun.delete(jobUid);
    },
  };
}

/** `isKept`: the piece is stored with the run. `isNoted`: the book holds it. */
interface Fate {
  readonly isKept: boolean;
  readonly isNoted: boolean;
}

const onlyNoted: Fate = { isKept: false, isNoted: true };

async function takeLog(
  job: JobFacts,
  log: WantedLog,
  taking: CaptureDeps & Pick<EvidenceWishes, 'maxLogBytes'> & Pick<Fate, 'isNoted'>,
): Promise<Evidence> {
  const { maxLogBytes } = taking;
  const tail = await readLogTail(
    {
      namespace: job.namespace,
      pod: log.pod.name,
      node: log.pod.node,
      container: log.container,
      previous: log.previous,
      tailLines: mostTailLines,
      maxBytes: maxLogBytes + redactionMarginBytes,
      urgency: log.pod.deletingAt === undefined ? (taking.isNoted ? 'soon' : 'later') : 'now',
    },
    { cluster: taking.cluster, pool: taking.pool, clock: taking.clock, timeoutMs: taking.readTimeoutMs },
    taking.signal,
  );
  const piece = { ...pieceOf(job, taking), kind: 'logs' as const, name: `${log.pod.name}/${log.container}` };
  taking.onRead('unavailable' in tail ? tail.unavailable : 'ok');
  if ('unavailable' in tail) return { ...piece, body: undefined, truncated: false, unavailable: tail.unavailable };
  const { text, truncated } = await taking.redaction.log(tail.bytes, { maxBytes: maxLogBytes, cut: tail.truncated });
  return { ...piece, body: text, truncated, unavailable: undefined };
}

/** Milliseconds until all events of the run are written; zero or less for a run that ended a while ago. */
function lastEventsInMs(endedAt: Instant | undefined, now: Instant): number {
  return endedAt === undefined ? lastEventsMs : Math.min(lastEventsMs, endedAt + endIsCutByMs + lastEventsMs - now);
}

async function takeLastEvents(
  job: JobFacts,
  pods: readonly PodFacts[],
  inMs: number,
  deps: CaptureDeps,
): Promise<Evidence> {
  await deps.clock.sleep(inMs, deps.signal);
  return takeEvents(job, pods, deps);
}

async function takeEvents(job: JobFacts, pods: readonly PodFacts[], taking: CaptureDeps): Promise<Evidence> {
  const uids = [job.uid, ...pods.slice(-taking.maxAttempts).map((pod) => pod.uid)];
  const events = await taking.eventReader.read(job.namespace, uids);
  const messages = await taking.redaction.messages(events.map(({ message }) => message));
  const kept = events.map((event, index): KeptEvent => ({
    at: event.lastAt ?? event.firstAt,
    type: event.type,
    reason: event.reason,
    object: event.object,
    message: messages[index] ?? '',
    count: event.count,
  }));
  const isEmpty = kept.length === 0;
  return {
    ...pieceOf(job, taking),
    kind: 'events',
    name: '',
    body: isEmpty ? undefined : JSON.stringify(kept),
    truncated: false,
    unavailable: isEmpty ? 'empty' : undefined,
  };
}

async function takeAttempts(job: JobFacts, pods: readonly PodFacts[], taking: CaptureDeps): Promise<Evidence> {
  const raw = toAttempts(pods);
  const written = raw.flatMap(({ containers }) => containers.flatMap(({ message }) => message ?? []));
  const safe = (await taking.redaction.messages(written)).values();
  const attempts = raw.map((attempt) => ({
    ...attempt,
    containers: attempt.containers.map((container) => ({
      ...container,
      message: container.message === undefined ? undefined : safe.next().value,
    })),
  }));
  return {
    ...pieceOf(job, taking),
    kind: 'attempts',
    name: '',
    body: JSON.stringify(attempts),
    truncated: false,
    unavailable: undefined,
  };
}

function pieceOf(job: JobFacts, deps: CaptureDeps) {
  return { owner: job.uid, cronJobUid: job.cronJobUid, createdAt: job.createdAt, capturedAt: deps.clock.now() };
}

/** Remembers the images that each CronJob's runs used last, so that attempts are stored when images change, not with every success. */
interface ImageMemory {
  /** Whether these pods ran other images than those stored last, or the last storage was `keptEveryRuns` runs ago. Notes them if so. */
  isNews(cronJobUid: string, pods: readonly PodFacts[]): boolean;
}

/** A reader that looks for the images of a run looks through a few more runs than these. */
const keptEveryRuns = 30;
/** CronJobs that are remembered. Of one more, the CronJob noted first is forgotten and its images are stored once more. */
const mostCronJobs = 50_000;

export function createImageMemory(): ImageMemory {
  const known = new Map<string, { images: string; runs: number }>();
  return {
    isNews(cronJobUid, pods) {
      const ids = pods.flatMap(({ containers }) =>
        containers.map(({ name, imageId }) => imageId && `${name} ${imageId}`),
      );
      const seen = new Set(ids.filter((id): id is string => id !== undefined && id !== ''));
      const images = [...seen].toSorted((a, b) => (a < b ? -1 : 1)).join('\n');
      if (images === '') return false;
      const last = known.get(cronJobUid);
      if (last?.images === images && last.runs + 1 < keptEveryRuns) {
        last.runs += 1;
        return false;
      }
      const [oldest] = known.keys();
      if (known.size >= mostCronJobs && oldest !== undefined) known.delete(oldest);
      known.set(cronJobUid, { images, runs: 0 });
      return true;
    },
  };
}

/** Redacts values that look like secrets and matches of `evidence.redact-patterns`. Its thread ends with the signal. */
export function redactionUntil(
  signal: AbortSignal,
  deps: { readonly clock: Clock; readonly logger: Logger },
  patterns: readonly string[],
): Redaction {
  const redaction = createInstalledRedaction(createBudgetedThread, patterns, deps);
  signal.addEventListener('abort', () => void redaction.close(), { once: true });
  return redaction;
}
