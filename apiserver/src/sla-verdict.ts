import type { SlaVerdict } from '@cronjob-monitor/shared/contract';
import type { SlaTargetSpec } from './monitor-spec.ts';

interface Counts {
  readonly success: number;
  readonly failed: number;
}

/** What a success rate says of its target: `atRisk` when one more failed run would breach it. */
export function judgeRate({ success, failed }: Counts, target: SlaTargetSpec): SlaVerdict {
  const { enabled, minSuccessRate, minRuns } = target;
  if (!enabled || minSuccessRate === undefined) return 'off';
  const runs = success + failed;
  if (runs === 0 || runs < minRuns) return 'noData';
  if (isBelow(success, runs, minSuccessRate)) return 'breached';
  return isBelow(success, runs + 1, minSuccessRate) ? 'atRisk' : 'met';
}

/** Compared without division: a rate that equals its target meets it. */
function isBelow(success: number, runs: number, minSuccessRate: number): boolean {
  return success * 100 < minSuccessRate * runs;
}

/** Failed runs until the rate breaches: 0, the next one does. Undefined: it breaches now, or no number of them does. */
export function failuresLeft({ success, failed }: Counts, target: SlaTargetSpec): number | undefined {
  const { minSuccessRate, minRuns } = target;
  if (minSuccessRate === undefined || minSuccessRate === 0) return undefined;
  const runs = success + failed;
  if (runs >= minRuns && runs > 0 && isBelow(success, runs, minSuccessRate)) return undefined;
  let more = Math.max(0, Math.floor((success * 100) / minSuccessRate) - runs);
  while (!isBelow(success, runs + more + 1, minSuccessRate)) more += 1; // the division may have rounded
  return Math.max(more, minRuns - runs - 1);
}
