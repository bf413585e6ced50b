import type { Clock } from '@cronjob-monitor/shared/process';
import { controllerNames, type ControllerName, type WorkQueueMetrics } from '../metrics/index.ts';
import { WorkQueue } from '../runtime/index.ts';

/** One queue of UIDs for each controller. Closed until this replica leads. */
export type Queues = Readonly<Record<ControllerName, WorkQueue<string>>>;

export function createQueues(clock: Clock, metrics: WorkQueueMetrics): Queues {
  const queues = controllerNames.map((name) => {
    const queue = new WorkQueue<string>({ clock, metrics: metrics.of(name) });
    metrics.trackDepth(name, () => queue.depth);
    return [name, queue] as const;
  });
  return Object.fromEntries(queues) as Queues;
}
