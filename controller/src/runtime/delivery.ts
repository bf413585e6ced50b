import type { Logger } from '@cronjob-monitor/shared/process';

import type { EventHandler, ObjectEvent, Projected } from './objects.ts';

/**
 * Hands events to the handlers, one event after the other, in the order of arrival. A handler that throws loses that event
 * for itself alone: it is counted, logged with the UID, and everything else goes on.
 */
export class Delivery<T extends Projected> {
  readonly #handlers: readonly EventHandler<T>[];
  readonly #logger: Logger;
  readonly #onFailure: () => void;

  /** `onFailure` counts a handler, or a projection, that threw. */
  constructor(deps: {
    readonly handlers: readonly EventHandler<T>[];
    readonly logger: Logger;
    readonly onFailure: () => void;
  }) {
    this.#handlers = deps.handlers;
    this.#logger = deps.logger;
    this.#onFailure = deps.onFailure;
  }

  /** Resolves when the handlers are done with it; undefined when they already are, which spares the usual case a turn. */
  deliver(events: readonly ObjectEvent<T>[]): Promise<void> | undefined {
    let pending: Promise<void> | undefined;
    for (const event of events) {
      for (const handler of this.#handlers) {
        // A handler that waits makes the later ones wait too, so that each sees the events in one order.
        if (pending) pending = pending.then(() => this.#call(handler, event));
        else pending = this.#call(handler, event);
      }
    }
    return pending;
  }

  failed(uid: string, error: unknown): void {
    this.#onFailure();
    this.#logger.error('an event could not be taken in', { uid, error });
  }

  #call(handler: EventHandler<T>, event: ObjectEvent<T>): Promise<void> | undefined {
    try {
      const pending = handler(event);
      if (!(pending instanceof Promise)) return undefined;
      return pending.catch((error: unknown) => this.failed(event.item.uid, error));
    } catch (error) {
      this.failed(event.item.uid, error);
      return undefined;
    }
  }
}
