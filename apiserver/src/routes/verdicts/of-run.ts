import type { ExecutionStatus, HealthState, Verdict, VerdictKind } from '@cronjob-monitor/shared/contract';
import { exitInWords, runWords, toVerdict, type VerdictAddition } from '@cronjob-monitor/shared/domain';
import type { StoredExecution } from '@cronjob-monitor/shared/store';

const standings: Readonly<Record<ExecutionStatus, { readonly state: HealthState; readonly kind: VerdictKind }>> = {
  success: { state: 'healthy', kind: 'succeeded' },
  failed: { state: 'failing', kind: 'jobFailed' },
  replaced: { state: 'unknown', kind: 'deleted' },
  deleted: { state: 'unknown', kind: 'deleted' },
  unobserved: { state: 'unknown', kind: 'notEvaluated' },
};

/** What is said of one ended run. */
export function verdictOfRun(run: StoredExecution, addition: VerdictAddition): Verdict {
  const told = { words: runWords(run), sinceAt: run.finishedAt ?? run.createdAt };
  const cause = run.status === 'failed' ? exitInWords(run) || undefined : undefined;
  return toVerdict(standings[run.status], told, { cause, ...addition });
}
