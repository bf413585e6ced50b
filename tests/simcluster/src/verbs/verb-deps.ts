import type { Creators } from '../managed/creators.ts';
import type { KindRegistry } from '../kinds/registry.ts';
import type { ObjectStore } from '../storage/object-store.ts';
import type { SimClock } from '../time/sim-clock.ts';
import type { ObjectWriter } from './object-writer.ts';

/** What the verbs work on. */
export interface VerbDeps {
  readonly store: ObjectStore;
  readonly writer: ObjectWriter;
  readonly registry: KindRegistry;
  readonly clock: SimClock;
  readonly creators: Creators;
}
