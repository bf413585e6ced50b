import type { JobLogs, LogSource } from '@cronjob-monitor/shared/contract';
import { type Cluster, type Redaction, ClusterError, createTranslator, TailBuffer } from '@cronjob-monitor/shared/kube';
import { startTimeLimit, type Clock } from '@cronjob-monitor/shared/process';
import { type Store, listEvidence, type Evidence } from '@cronjob-monitor/shared/store';
import {
  findExitCause,
  redactionMarginBytes,
  type PodFacts,
  type Instant,
  attemptsIn,
} from '@cronjob-monitor/shared/domain';
import { ApiError, clusterForbidden, clusterUnavailable, logsUnavailable, notFound } from '../errors.ts';

/** Kubernetes has so long to answer. */
const patienceMs = 10_000;

interface Deps {
  readonly store: Store;
  readonly cluster: Cluster;
  readonly redaction: Pick<Redaction, 'log'>;
  readonly clock: Clock;
}

/** A log as it was read: which of its lines are decisive is not known yet. */
export type ReadLog = Omit<JobLogs, 'decisive'>;

/**
 * The log of one container of one run: live, stored, or live and else stored. Aborts with the signal: its caller has gone.
 * Throws LOGS_UNAVAILABLE and NOT_FOUND.
 */
export async function readLogs(
  deps: Deps,
  wish: LogWish,
  { source, signal }: { readonly source: LogSource; readonly signal: AbortSignal },
): Promise<ReadLog> {
  if (source === 'stored') return fromStore(deps, wish);
  try {
    return await fromCluster(deps, wish, signal);
  } catch (liveError) {
    if (source === 'live' || signal.aborted || !(liveError instanceof ApiError)) throw liveError;
    return fromStore(deps, wish).catch((storedError: unknown) => {
      // Nothing is stored either: why the live log is not to be had says more.
      throw storedError instanceof ApiError && storedError.code === 'LOGS_UNAVAILABLE' ? liveError : storedError;
    });
  }
}

async function fromCluster({ cluster, redaction, clock }: Deps, wish: LogWish, signal: AbortSignal): Promise<ReadLog> {
  const limit = startTimeLimit(clock, patienceMs, signal);
  try {
    const log = await readLiveLog({ cluster, redaction }, wish, limit.signal);
    return toJobLogs(wish, { ...log, source: 'live', capturedAt: null });
  } finally {
    limit.end();
  }
}

async function fromStore({ store }: Deps, wish: LogWish): Promise<ReadLog> {
  const log = await readStoredLog(store, wish);
  return toJobLogs(wish, { ...log, source: 'stored', capturedAt: new Date(log.capturedAt).toISOString() });
}

function toJobLogs(
  wish: LogWish,
  log: Omit<ReadLog, 'jobName' | 'logs' | 'lines'> & { readonly text: string },
): ReadLog {
  return {
    jobName: wish.jobName,
    pod: log.pod,
    container: log.container,
    containers: log.containers,
    source: log.source,
    logs: log.text,
    lines: countLines(log.text),
    truncated: log.truncated,
    capturedAt: log.capturedAt,
  };
}

function countLines(text: string): number {
  if (text === '') return 0;
  return text.split('\n').length - (text.endsWith('\n') ? 1 : 0);
}

/** Which log is asked for; what is absent is chosen. */
export interface LogWish {
  readonly namespace: string;
  readonly jobName: string;
  /** The Job that the pods must belong to: its name may have been used before. */
  readonly jobUid: string;
  readonly container: string | undefined;
  readonly pod: string | undefined;
  readonly previous: boolean;
  readonly tailLines: number;
}

interface LiveLog {
  readonly pod: string;
  readonly container: string;
  readonly containers: readonly string[];
  readonly text: string;
  readonly truncated: boolean;
}

/** Bytes of an answer, and of what is read for it: the cluster cuts the end, where errors are, so it gets a ceiling only. Of what is read
 * no more than the end is held. */
const maxLogBytes = 1024 * 1024;
const maxReadBytes = 8 * 1024 * 1024;

const translator = createTranslator();

/** Reads the end of one container's log from the cluster. Throws LOGS_UNAVAILABLE, NOT_FOUND and the errors of the cluster. */
async function readLiveLog(
  { cluster, redaction }: { readonly cluster: Cluster; readonly redaction: Pick<Redaction, 'log'> },
  wish: LogWish,
  signal: AbortSignal,
): Promise<LiveLog> {
  const raw = await cluster.listPodsOfJob(wish.namespace, wish.jobName, signal).catch(rethrow(wish, 'list', 'pods'));
  const pods = raw.flatMap((object) => translator.pod(object) ?? []).filter(({ jobUid }) => jobUid === wish.jobUid);
  const pod = choosePod(pods, wish);
  const container = chooseContainer(pod, wish);
  // One line more than asked for tells whether there are earlier ones.
  const read = await cluster
    .readLog(
      {
        namespace: wish.namespace,
        pod: pod.name,
        container,
        previous: wish.previous,
        tailLines: wish.tailLines + 1,
        limitBytes: maxReadBytes,
      },
      signal,
    )
    .then(readEnd)
    .catch(rethrow(wish, 'get', 'pods/log'));
  const kept = lastLines(read.text, wish.tailLines);
  const safe = await redaction.log(Buffer.from(kept.text, 'latin1'), {
    maxBytes: maxLogBytes,
    cut: read.truncated && !kept.truncated,
  });
  return {
    pod: pod.name,
    container,
    containers: pod.containers.map(({ name }) => name),
    text: safe.text,
    truncated: read.truncated || kept.truncated || safe.truncated,
  };
}

/** The one asked for, else one that failed, else the newest. */
function choosePod(pods: readonly PodFacts[], wish: LogWish): PodFacts {
  if (pods.length === 0) throw logsUnavailable(wish.jobName, 'podGone');
  const newestFirst = [...pods].sort((a, b) => b.createdAt - a.createdAt);
  if (wish.pod !== undefined) {
    const named = newestFirst.find(({ name }) => name === wish.pod);
    if (!named) throw notFound('Execution', `${wish.namespace}/${wish.jobName}, pod ${wish.pod}`, 'neverSeen');
    return named;
  }
  const [newest] = newestFirst;
  const failed = newestFirst.find(({ phase }) => phase === 'Failed');
  const isRunning = newest?.phase === 'Running' || newest?.phase === 'Pending';
  const chosen = isRunning ? newest : (failed ?? newest);
  if (!chosen) throw logsUnavailable(wish.jobName, 'podGone');
  return chosen;
}

/** The one asked for, else the one that failed, else the first regular one. */
function chooseContainer(pod: PodFacts, wish: LogWish): string {
  const { container } = wish;
  if (container !== undefined) {
    if (pod.containers.some(({ name }) => name === container)) return container;
    throw notFound('Execution', `${wish.namespace}/${wish.jobName}, container ${container}`, 'neverSeen');
  }
  const cause = findExitCause(noJob, [pod])?.container;
  const chosen = cause ?? pod.containers.find(({ init }) => !init)?.name ?? pod.containers[0]?.name;
  if (chosen === undefined) throw logsUnavailable(wish.jobName, 'notStarted');
  return chosen;
}

/** The pod alone tells. */
const noJob = { indexed: false, failedIndexes: undefined, jobReason: undefined };

/**
 * The end of what comes, as latin-1, one character for a byte: what is cut stays where lines end, and nothing is decoded twice. Never
 * reads more than was asked for.
 */
async function readEnd(chunks: AsyncIterable<Uint8Array>): Promise<{ text: string; truncated: boolean }> {
  const tail = new TailBuffer(maxLogBytes + redactionMarginBytes);
  for await (const chunk of chunks) {
    tail.append(Buffer.from(chunk));
    if (tail.totalBytes > maxReadBytes) break;
  }
  return { text: Buffer.from(tail.bytes()).toString('latin1'), truncated: tail.truncated };
}

/** The end of a text, and whether something stands before it. */
function lastLines(text: string, count: number): { text: string; truncated: boolean } {
  // The line feed at the very end ends the last line and begins none.
  let from = text.length - 1;
  for (let lines = 0; lines < count; lines++) {
    if (from < 0) return { text, truncated: false };
    from = from === 0 ? -1 : text.lastIndexOf('\n', from - 1);
  }
  return from < 0 ? { text, truncated: false } : { text: text.slice(from + 1), truncated: true };
}

/** Turns a failed call to the cluster into the refusal that the reader of a log gets. */
function rethrow(wish: LogWish, verb: string, resource: string): (error: unknown) => never {
  return (error) => {
    throw error instanceof ClusterError ? toApiError(error, wish, verb, resource) : error;
  };
}

function toApiError(error: ClusterError, wish: LogWish, verb: string, resource: string): ApiError {
  switch (error.code) {
    case 'notFound':
    case 'gone':
      return logsUnavailable(wish.jobName, 'podGone');
    case 'invalid': // a container that waits, or was never restarted
      return logsUnavailable(wish.jobName, 'notStarted');
    case 'forbidden':
    case 'unauthorized':
      return clusterForbidden(verb, resource, wish.namespace, error);
    default:
      return clusterUnavailable(error);
  }
}

interface StoredLog {
  readonly pod: string;
  readonly container: string;
  readonly containers: readonly string[];
  readonly text: string;
  readonly truncated: boolean;
  readonly capturedAt: Instant;
}

/** Reads what was captured of a run. Throws LOGS_UNAVAILABLE, and NOT_FOUND for a container that the run never had. */
async function readStoredLog(store: Store, wish: LogWish): Promise<StoredLog> {
  // Of each container the log of its last instance is kept.
  if (wish.previous) throw logsUnavailable(wish.jobName, 'notStored');
  const evidence = await listEvidence(store, wish.jobUid);
  const logs = evidence.filter(({ kind }) => kind === 'logs').map(toNamedLog);
  const containers = [...new Set([...containersOf(evidence), ...logs.map(({ container }) => container)])];
  if (wish.container !== undefined && containers.length > 0 && !containers.includes(wish.container)) {
    throw notFound('Execution', `${wish.namespace}/${wish.jobName}, container ${wish.container}`, 'neverSeen');
  }
  const asked = logs.filter(
    ({ pod, container }) =>
      (wish.container === undefined || container === wish.container) && (wish.pod === undefined || pod === wish.pod),
  );
  const newestFirst = asked.toSorted((a, b) => b.evidence.capturedAt - a.evidence.capturedAt);
  const found = newestFirst.find(({ evidence: { body } }) => body !== undefined);
  if (found?.evidence.body === undefined) throw logsUnavailable(wish.jobName, reasonOf(newestFirst[0]?.evidence));
  const kept = lastLines(found.evidence.body, wish.tailLines);
  return {
    pod: found.pod,
    container: found.container,
    containers,
    text: kept.text,
    truncated: kept.truncated || found.evidence.truncated,
    capturedAt: found.evidence.capturedAt,
  };
}

interface NamedLog {
  readonly pod: string;
  readonly container: string;
  readonly evidence: Evidence;
}

/** Logs are kept under `pod/container`. */
function toNamedLog(evidence: Evidence): NamedLog {
  const [pod = '', container = pod] = evidence.name.split('/');
  return { pod, container, evidence };
}

function containersOf(evidence: readonly Evidence[]): string[] {
  return attemptsIn(evidence).flatMap(({ containers }) => containers.map(({ name }) => name));
}

function reasonOf(evidence: Evidence | undefined): 'notStored' | 'podGone' | 'notStarted' {
  if (evidence?.unavailable === 'podGone') return 'podGone';
  return evidence?.unavailable === 'containerWaiting' ? 'notStarted' : 'notStored';
}
