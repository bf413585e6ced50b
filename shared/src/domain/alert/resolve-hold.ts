import type { AlertSubject, AlertType } from '../../contract/index.ts';

/**
 * Quiet verdicts in a row that end an active alert: two for what is computed over a window and may cross its limit to and fro, one
 * for all else.
 */
export function quietVerdictsNeeded(type: AlertType, subject: AlertSubject | undefined): number {
  const isWindowed = type === 'durationRegression' || (type === 'slaBreached' && subject === 'successRate');
  return isWindowed ? 2 : 1;
}
