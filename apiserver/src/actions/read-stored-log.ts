import type { Attempt, Instant } from '@cronjob-monitor/shared/domain';
import { listEvidence, type Evidence, type Store } from '@cronjob-monitor/shared/store';
import { logsUnavailable, notFound } from '../errors.ts';
import { lastLines, type LogWish } from './read-live-log.ts';

export interface StoredLog {
  readonly pod: string;
  readonly container: string;
  readonly containers: readonly string[];
  readonly text: string;
  readonly truncated: boolean;
  readonly capturedAt: Instant;
}

/** Reads what was captured of a run. Throws LOGS_UNAVAILABLE, and NOT_FOUND for a container that the run never had. */
export async function readStoredLog(store: Store, wish: LogWish): Promise<StoredLog> {
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
  const attempts = evidence.find(({ kind, body }) => kind === 'attempts' && body !== undefined);
  const pods = JSON.parse(attempts?.body ?? '[]') as readonly Attempt[]; // written by toAttempts
  return pods.flatMap(({ containers }) => containers.map(({ name }) => name));
}

function reasonOf(evidence: Evidence | undefined): 'notStored' | 'podGone' | 'notStarted' {
  if (evidence?.unavailable === 'podGone') return 'podGone';
  return evidence?.unavailable === 'containerWaiting' ? 'notStarted' : 'notStored';
}
