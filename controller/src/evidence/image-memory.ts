import type { PodFacts } from '@cronjob-monitor/shared/domain';

/** Which images the runs of each CronJob used last, so that they are kept when they change, and not with every success. */
export interface ImageMemory {
  /** Whether these pods ran other images than those kept last for the CronJob, or it is long ago that they were kept. Notes them if so. */
  isNews(cronJobUid: string, pods: readonly PodFacts[]): boolean;
}

/** Who looks for the images of a run looks through a few more runs than these. */
const keptEveryRuns = 30;
/** CronJobs that are remembered; the one noted first is forgotten, and kept once more than needed. */
const mostCronJobs = 50_000;

export function createImageMemory(): ImageMemory {
  const known = new Map<string, { images: string; runs: number }>();
  return {
    isNews(cronJobUid, pods) {
      const ids = pods.flatMap(({ containers }) =>
        containers.map(({ name, imageId }) => imageId && `${name} ${imageId}`),
      );
      const seen = new Set(ids.filter((id): id is string => id !== undefined && id !== ''));
      const images = [...seen].toSorted((a, b) => (a < b ? -1 : 1)).join('\n');
      if (images === '') return false;
      const last = known.get(cronJobUid);
      if (last?.images === images && last.runs + 1 < keptEveryRuns) {
        last.runs += 1;
        return false;
      }
      const [oldest] = known.keys();
      if (known.size >= mostCronJobs && oldest !== undefined) known.delete(oldest);
      known.set(cronJobUid, { images, runs: 0 });
      return true;
    },
  };
}
