import { findExitCause, type PodFacts } from '@cronjob-monitor/shared/domain';
import { ClusterError, createRedactor, createTranslator, toSafeLog, type Cluster } from '@cronjob-monitor/shared/kube';
import { clusterForbidden, clusterUnavailable, logsUnavailable, notFound, type ApiError } from '../errors.ts';

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

export interface LiveLog {
  readonly pod: string;
  readonly container: string;
  readonly containers: readonly string[];
  readonly text: string;
  readonly truncated: boolean;
}

/** Bytes of an answer, and of what is read for it: the cluster cuts the end, where errors are, so it gets a ceiling only. */
const maxLogBytes = 1024 * 1024;
const maxReadBytes = 8 * 1024 * 1024;

const translator = createTranslator();
const redact = createRedactor();

/** Reads the end of one container's log from the cluster. Throws LOGS_UNAVAILABLE, NOT_FOUND and the errors of the cluster. */
export async function readLiveLog(cluster: Cluster, wish: LogWish, signal: AbortSignal): Promise<LiveLog> {
  const raw = await cluster.listPodsOfJob(wish.namespace, wish.jobName, signal).catch(rethrow(wish, 'list', 'pods'));
  const pods = raw.flatMap((object) => translator.pod(object) ?? []).filter(({ jobUid }) => jobUid === wish.jobUid);
  const pod = choosePod(pods, wish);
  const container = chooseContainer(pod, wish);
  // One line more than asked for tells whether there are earlier ones.
  const lines = await cluster
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
    .then(readAll)
    .catch(rethrow(wish, 'get', 'pods/log'));
  const kept = lastLines(lines, wish.tailLines);
  const safe = toSafeLog(Buffer.from(kept.text, 'latin1'), { maxBytes: maxLogBytes, cut: false, redact });
  return {
    pod: pod.name,
    container,
    containers: pod.containers.map(({ name }) => name),
    text: safe.text,
    truncated: kept.truncated || safe.truncated,
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

/** Bytes as latin-1, one character each: what is cut stays where lines end, and nothing is decoded twice. Never more than was asked for. */
async function readAll(chunks: AsyncIterable<Uint8Array>): Promise<string> {
  const parts: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of chunks) {
    parts.push(Buffer.from(chunk));
    bytes += chunk.length;
    if (bytes > maxReadBytes) break;
  }
  return Buffer.concat(parts).toString('latin1');
}

/** The end of a text, and whether something stands before it. */
export function lastLines(text: string, count: number): { text: string; truncated: boolean } {
  const lines = text.split('\n');
  const ended = lines.at(-1) === '';
  if (ended) lines.pop();
  if (lines.length <= count) return { text, truncated: false };
  return { text: lines.slice(-count).join('\n') + (ended ? '\n' : ''), truncated: true };
}

/** What a failed call to the cluster means for who asked for a log. */
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
