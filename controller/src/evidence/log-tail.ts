import { startTimeLimit, type Clock } from '@cronjob-monitor/shared/process';
import { ClusterError, TailBuffer, type Cluster } from '@cronjob-monitor/shared/kube';
import type { ReadPool, Urgency } from './read-pool.ts';

/** Why a log could not be had; stored in the place of an empty log. */
type LogUnavailable = 'podGone' | 'containerWaiting' | 'forbidden' | 'timeout' | 'nodeUnreachable' | 'empty';

type LogTail = { readonly bytes: Uint8Array; readonly truncated: boolean } | { readonly unavailable: LogUnavailable };

interface LogTailRequest {
  readonly namespace: string;
  readonly pod: string;
  readonly node: string | undefined;
  readonly container: string;
  readonly urgency: Urgency;
  /** The instance before the last restart. */
  readonly previous?: boolean;
  readonly tailLines: number;
  readonly maxBytes: number;
}

/** The server cuts at the end of the stream, where errors are: a ceiling against endless logs, not the cap. */
const streamCeilingBytes = 8 * 1024 * 1024;

/** Reads the end of one container's log: at most `maxBytes`, within `timeoutMs`, in the order of the pool. Throws only when aborted. */
export async function readLogTail(
  request: LogTailRequest,
  deps: { cluster: Cluster; pool: ReadPool; clock: Clock; timeoutMs: number },
  signal: AbortSignal,
): Promise<LogTail> {
  return deps.pool.run(request.node ?? '', () => readWithin(request, deps, signal), signal, request.urgency);
}

/** Repeats the request after an overloaded API server; the client waits for its Retry-After. */
async function openLog(
  request: LogTailRequest,
  cluster: Pick<Cluster, 'readLog'>,
  signal: AbortSignal,
): Promise<AsyncIterable<Uint8Array>> {
  for (;;) {
    try {
      return await cluster.readLog({ ...request, limitBytes: streamCeilingBytes }, signal);
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof ClusterError) || error.code !== 'throttled') throw error;
    }
  }
}

async function readWithin(
  request: LogTailRequest,
  deps: { cluster: Cluster; clock: Clock; timeoutMs: number },
  signal: AbortSignal,
): Promise<LogTail> {
  const limit = startTimeLimit(deps.clock, deps.timeoutMs, signal);
  const tail = new TailBuffer(request.maxBytes);
  try {
    const log = await openLog(request, deps.cluster, limit.signal);
    for await (const chunk of log) tail.append(chunk);
  } catch (error) {
    if (signal.aborted) throw error;
    // A part of the log that came in time is returned.
    if (tail.totalBytes === 0) return { unavailable: limit.passed ? 'timeout' : whyUnavailable(error) };
    return { bytes: tail.bytes(), truncated: true };
  } finally {
    limit.end();
  }
  if (tail.totalBytes === 0) return { unavailable: 'empty' };
  return { bytes: tail.bytes(), truncated: tail.truncated || tail.totalBytes >= streamCeilingBytes };
}

function whyUnavailable(error: unknown): LogUnavailable {
  if (!(error instanceof ClusterError)) throw error;
  switch (error.code) {
    case 'notFound':
      return 'podGone';
    case 'forbidden':
    case 'unauthorized':
      return 'forbidden';
    case 'timeout':
      return 'timeout';
    case 'invalid': // "container ... is waiting to start"
      return 'containerWaiting';
    default:
      return 'nodeUnreachable';
  }
}
