import { alertTypeTable, type AlertDetail, type AlertSubject } from '@cronjob-monitor/shared/contract';
import { shortTimeText } from './time.ts';
import type { Viewer } from './viewer.ts';

const endsBySubject: Readonly<Partial<Record<AlertSubject, string>>> = {
  successRate: 'the rate is back at its target',
  maxDuration: 'a run stays under the limit',
  minDuration: 'a run takes long enough',
  finishBy: 'a run finishes in time',
  output: 'a success meets all assertions',
  notStarted: 'the run starts or ends',
  overrunning: 'the run ends',
  terminating: 'the pods are gone',
  neverSucceeded: 'a run succeeds',
  disappeared: 'a CronJob of its name is selected',
};

/** What ends an alert: `a run succeeds`. One that comes and goes stays until nothing has changed for an hour. */
export function resolvesWhen(
  { type, subject, flappingUntil }: Pick<AlertDetail, 'type' | 'subject' | 'flappingUntil'>,
  { timeZone, nowMs }: Viewer,
): string {
  const end = (subject === null ? undefined : endsBySubject[subject]) ?? alertTypeTable[type].endsWhen;
  if (!flappingUntil) return end;
  return `${end} and nothing has changed for an hour: not before ${shortTimeText(flappingUntil, timeZone, nowMs)}`;
}
