import type { JobLogs, LogSource } from '@cronjob-monitor/shared/contract';
import type { Cluster, Redaction } from '@cronjob-monitor/shared/kube';
import type { Clock } from '@cronjob-monitor/shared/process';
import type { Store } from '@cronjob-monitor/shared/store';
import { ApiError } from '../errors.ts';
import { readLiveLog, type LogWish } from './read-live-log.ts';
import { readStoredLog } from './read-stored-log.ts';

/** Kubernetes has so long to answer. */
const patienceMs = 10_000;

interface Deps {
  readonly store: Store;
  readonly cluster: Cluster;
  readonly redaction: Pick<Redaction, 'log'>;
  readonly clock: Clock;
}

/**
 * The log of one container of one run: live, stored, or live and else stored. Aborts with the signal: nobody waits for it any more.
 * Throws LOGS_UNAVAILABLE and NOT_FOUND.
 */
export async function readLogs(
  deps: Deps,
  wish: LogWish,
  { source, signal }: { readonly source: LogSource; readonly signal: AbortSignal },
): Promise<JobLogs> {
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

async function fromCluster({ cluster, redaction, clock }: Deps, wish: LogWish, signal: AbortSignal): Promise<JobLogs> {
  const done = new AbortController();
  const late = clock.sleep(patienceMs, done.signal).then(
    () => done.abort(),
    () => {}, // aborted: it was in time
  );
  try {
    const log = await readLiveLog({ cluster, redaction }, wish, AbortSignal.any([done.signal, signal]));
    return toJobLogs(wish, { ...log, source: 'live', capturedAt: null });
  } finally {
    done.abort();
    await late;
  }
}

async function fromStore({ store }: Deps, wish: LogWish): Promise<JobLogs> {
  const log = await readStoredLog(store, wish);
  return toJobLogs(wish, { ...log, source: 'stored', capturedAt: new Date(log.capturedAt).toISOString() });
}

function toJobLogs(
  wish: LogWish,
  log: Omit<JobLogs, 'jobName' | 'logs' | 'lines'> & { readonly text: string },
): JobLogs {
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
