import { isDeepStrictEqual } from 'node:util';
import type { CronJobFacts } from '@cronjob-monitor/shared/domain';
import type { Clock } from '@cronjob-monitor/shared/process';
import type { ObjectEvent } from '../../runtime/index.ts';
import type { Selection, SelectionStarts } from '../../selection/index.ts';
import type { SpecSightings, WordSightings } from './unwritten-edits.ts';

/** Which events wake which CronJobs and monitors. */
export function watchCronJobs(deps: {
  readonly queue: (cronJobUid: string) => void;
  /** Monitors whose targets this CronJob may join or leave. */
  readonly queueMonitorsAround: (cronJob: CronJobFacts) => void;
  readonly departed: (departure: Parameters<Selection['departed']>[0]) => void;
  /** Where edits wait until they are written down. */
  readonly sightings?: SpecSightings | undefined;
  /** Told of annotations that say how runs are judged. */
  readonly words?: Pick<WordSightings, 'cronJobChanged' | 'cronJobGone'> | undefined;
  /** Told of labels that may begin a selection. */
  readonly starts?: Pick<SelectionStarts, 'cronJobChanged' | 'cronJobGone'> | undefined;
  /** Since when nothing was heard of the watch, if that is longer than usual. */
  readonly unwatchedSinceAt?: (() => number | undefined) | undefined;
  readonly clock: Clock;
}): (event: ObjectEvent<CronJobFacts>) => void {
  return (event) => {
    const { item } = event;
    if (event.type === 'updated') {
      const unwatchedSinceAt = deps.unwatchedSinceAt?.();
      const receivedAt = deps.clock.now();
      deps.sightings?.note({ before: event.before, facts: item, at: receivedAt, unwatchedSinceAt });
      deps.starts?.cronJobChanged(event, { receivedAt, unwatchedSinceAt });
      deps.words?.cronJobChanged(event, { receivedAt, unwatchedSinceAt });
    }
    if (event.type === 'deleted') {
      const at = item.deletingAt ?? deps.clock.now();
      deps.departed({ cronJob: item, at, thereUntilAt: Math.min(at, deps.unwatchedSinceAt?.() ?? at) });
      deps.starts?.cronJobGone(item.uid);
      deps.words?.cronJobGone(item.uid);
    }
    deps.queue(item.uid);
    // Labels decide who selects it, and its owner who is to leave it out; all else leaves the targets as they are.
    const isSame =
      event.type === 'updated' &&
      isDeepStrictEqual(event.before.labels, item.labels) &&
      isDeepStrictEqual(event.before.annotations ?? {}, item.annotations ?? {});
    if (!isSame) deps.queueMonitorsAround(item);
  };
}
