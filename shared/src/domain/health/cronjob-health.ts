import type { CronJobStatus, Severity } from '../../contract/index.ts';

/** What the health of a CronJob follows from. */
export interface CronJobHealthFacts {
  /** Of its alerts in state active or suppressed; undefined: none. */
  readonly worstSeverity: Severity | undefined;
  readonly suspended: boolean;
  /** An ended run is known. */
  readonly hasRun: boolean;
}

/** The severity of its worst alert, else `suspended`, else `healthy` when something has run, else `unknown` (decisions.md section 3). */
export function cronJobStatus({ worstSeverity, suspended, hasRun }: CronJobHealthFacts): CronJobStatus {
  if (worstSeverity !== undefined) return worstSeverity;
  if (suspended) return 'suspended';
  return hasRun ? 'healthy' : 'unknown';
}
