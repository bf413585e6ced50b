import { suspendedJob } from '@cronjob-monitor/shared/contract';
import type { RowFacts } from '@cronjob-monitor/shared/domain';
import type { ActiveJob } from '@cronjob-monitor/shared/store';

/** The part of a row that Jobs take which have not ended: those that run, and beside the expected runs those that are suspended. */
export function toCells(jobs: readonly ActiveJob[], slots: RowFacts['slots']): Pick<RowFacts, 'slots' | 'running'> {
  const isHeld = ({ waitingReason }: ActiveJob): boolean => waitingReason === suspendedJob;
  const at = ({ scheduledAt, createdAt }: ActiveJob): number => scheduledAt ?? createdAt;
  const suspended = jobs.filter(isHeld).map((job) => ({ at: at(job), outcome: 'suspended', count: 1 }) as const);
  const running = jobs.filter((job) => !isHeld(job)).map((job) => ({ at: at(job), jobName: job.jobName }));
  return { slots: [...slots, ...suspended], running };
}
