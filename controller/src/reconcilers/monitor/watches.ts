import type { Changed, CronJobFacts, Instant, NamespaceFacts, NewsOfChange } from '@cronjob-monitor/shared/domain';
import type { Clock } from '@cronjob-monitor/shared/process';
import type { ObjectEvent } from '../../runtime/index.ts';
import type { ChannelSeen, MonitorSeen, Selection, SelectionStarts } from '../../selection/index.ts';
import { notReadyReason } from './gather.ts';

/** Which events wake which monitors. */
export function watchMonitors(deps: {
  readonly selection: Selection;
  readonly monitors: { values(): Iterable<MonitorSeen> };
  readonly queue: (monitorUid: string) => void;
  /** CronJobs whose Namespace speaks for them. */
  readonly queueCronJobsIn: (namespace: string) => void;
  /** Told of what may begin or end a selection. */
  readonly starts: Pick<SelectionStarts, 'monitorChanged' | 'monitorGone' | 'namespaceChanged'>;
  /** Told of what it says for its CronJobs. */
  readonly words: { namespaceChanged(event: Changed<NamespaceFacts>, news: NewsOfChange): void };
  /** Since when nothing was heard of the watch of this kind, if that is longer than usual. */
  readonly unwatchedSinceAt: (kind: 'CronJobMonitor' | 'Namespace') => Instant | undefined;
  readonly clock: Clock;
}): {
  onMonitor: (event: ObjectEvent<MonitorSeen>) => void;
  onNamespace: (event: ObjectEvent<NamespaceFacts>) => void;
  onChannel: (event: ObjectEvent<ChannelSeen>) => void;
  aroundCronJob: (cronJob: CronJobFacts) => void;
} {
  const queueAll = (): void => {
    for (const { uid } of deps.monitors.values()) deps.queue(uid);
  };
  const queueFallbacks = (): void => {
    for (const { uid, decoded } of deps.monitors.values())
      if (decoded.ok && decoded.spec.selector?.fallback) deps.queue(uid);
  };
  const newsOf = (kind: 'CronJobMonitor' | 'Namespace'): NewsOfChange => ({
    receivedAt: deps.clock.now(),
    unwatchedSinceAt: deps.unwatchedSinceAt(kind),
  });
  return {
    onMonitor(event) {
      // Our own status patches come back as events: they change neither spec nor selection.
      const isOwnEcho = event.type === 'updated' && event.before.generation === event.item.generation;
      if (isOwnEcho) {
        if (event.before.adviceIgnore !== event.item.adviceIgnore) deps.queue(event.item.uid);
        return;
      }
      if (event.type === 'updated') deps.starts.monitorChanged(event, newsOf('CronJobMonitor'));
      if (event.type === 'deleted') {
        deps.starts.monitorGone(event.item, newsOf('CronJobMonitor'));
        deps.selection.monitorDeparted(event.item, deps.clock.now());
      }
      deps.selection.invalidate();
      deps.queue(event.item.uid);
      // Another one may lead now; of one that changed, what it took or left is or was a fallback's.
      if (event.type === 'updated') queueFallbacks();
      else queueAll();
    },
    onNamespace(event) {
      if (event.type === 'updated' && sameReach(event.before, event.item)) return;
      deps.queueCronJobsIn(event.item.name);
      if (event.type === 'updated') {
        deps.starts.namespaceChanged(event, newsOf('Namespace'));
        deps.words.namespaceChanged(event, newsOf('Namespace'));
      }
      deps.selection.invalidate();
      queueAll();
    },
    onChannel(event) {
      // Its readiness, and whom it admits, are part of the conditions of the monitors that name it; its figures are not.
      if (event.type === 'updated' && isSameChannel(event.before, event.item)) return;
      // An annotation may name any channel.
      queueAll();
    },
    aroundCronJob(cronJob) {
      for (const monitor of deps.monitors.values()) {
        if (deps.selection.reachOf(monitor).namespaces.has(cronJob.namespace)) deps.queue(monitor.uid);
      }
    },
  };
}

function isSameChannel(a: ChannelSeen, b: ChannelSeen): boolean {
  const textOf = ({ status, decoded }: ChannelSeen): string =>
    JSON.stringify([notReadyReason(status), decoded.spec?.allowedNamespaces]);
  return textOf(a) === textOf(b);
}

function sameReach(a: NamespaceFacts, b: NamespaceFacts): boolean {
  const textOf = ({ labels, annotations, monitoredFrom }: NamespaceFacts): string =>
    JSON.stringify([labels, annotations, monitoredFrom]);
  return textOf(a) === textOf(b);
}
