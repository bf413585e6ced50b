import { alertSubjectTable, alertTypeTable, type AlertDetail } from '@cronjob-monitor/shared/contract';
import { shortTimeText } from './time.ts';
import type { Viewer } from './viewer.ts';

/** What ends an alert: `a run succeeds`. One that comes and goes stays until nothing has changed for an hour. */
export function resolvesWhen(
  { type, subject, flappingUntil }: Pick<AlertDetail, 'type' | 'subject' | 'flappingUntil'>,
  { timeZone, nowMs }: Viewer,
): string {
  const { endsWhen: end } = subject === null ? alertTypeTable[type] : alertSubjectTable[subject];
  if (!flappingUntil) return end;
  return `${end} and nothing has changed for an hour: not before ${shortTimeText(flappingUntil, timeZone, nowMs)}`;
}
