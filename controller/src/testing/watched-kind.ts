import type { RawObject } from '@cronjob-monitor/shared/kube';
import { ObjectDiff } from '../runtime/object-diff.ts';
import { findIdentity, type EventHandler, type Projected, type Projection } from '../runtime/objects.ts';

/** What a reflector does with objects of one kind, without its connection. */
export interface WatchedKind {
  readonly kind: 'CronJob' | 'Job' | 'Pod';
  readonly diff: ObjectDiff<Projected>;
  readonly handler: EventHandler<Projected>;
  observe(raw: RawObject): void;
  observeDeleted(raw: RawObject): void;
}

/** Brings the cache up to date and tells the handler, as a reflector does. */
export function watchKind<T extends Projected>(
  kind: 'CronJob' | 'Job' | 'Pod',
  cache: ConstructorParameters<typeof ObjectDiff<T>>[1],
  project: Projection<T>['project'],
  handler: EventHandler<T>,
): WatchedKind {
  const diff = new ObjectDiff<T>({ kind, project }, cache, undefined);
  const tell = (events: ReturnType<typeof diff.observe>): void => {
    for (const event of events) void handler(event);
  };
  return {
    kind,
    // What is asked of it here does not depend on the kind.
    diff: diff as unknown as ObjectDiff<Projected>,
    handler: handler as unknown as EventHandler<Projected>,
    observe(raw) {
      const identity = findIdentity(raw);
      if (identity) tell(diff.observe(raw, identity));
    },
    observeDeleted(raw) {
      const identity = findIdentity(raw);
      if (identity) tell(diff.observeDeleted(raw, identity));
    },
  };
}
