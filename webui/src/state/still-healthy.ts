import type { Health } from '@cronjob-monitor/shared/contract';
import type { Hint } from '../api/stream.ts';

/**
 * Health after a change of it. Of a service that stays healthy the change says what is new: when it evaluated last. Undefined where it does
 * not: problems, and who leads, have to be asked for.
 */
export function stillHealthy(before: Health, hint: Hint): Health | undefined {
  if (hint.kind !== 'health') return undefined;
  const { status, storage, ready, leader, lastEvaluation } = hint.data;
  const isSame = before.status === 'healthy' && status === 'healthy' && leader === before.leader;
  const hasBegun = before.lastEvaluation !== null && lastEvaluation !== null;
  return isSame && hasBegun ? { ...before, storage, ready, lastEvaluation } : undefined;
}
