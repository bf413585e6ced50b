import { sameJson } from '../json.ts';
import { hasSubresource, type Kind } from '../kinds/kind.ts';
import type { Random } from '../random.ts';
import { printTime } from '../schema/go-time.ts';
import type { KubeObject, ObjectMeta } from '../storage/kube-object.ts';
import type { ObjectStore } from '../storage/object-store.ts';
import type { SimClock } from '../time/sim-clock.ts';

export type Propagation = 'Background' | 'Foreground' | 'Orphan';

export interface RemoveOptions {
  /** Undefined: what the kind does by default. */
  readonly propagation?: Propagation;
  /** Only pods know grace; undefined: what the pod asks for. */
  readonly graceSeconds?: number;
}

export interface Removal {
  /** The object as it was last, or as it waits for its end. */
  readonly object: KubeObject;
  readonly gone: boolean;
}

/** Longest name whose generated end still fits. */
const longestGeneratedStem = 58;
const suffixLength = 5;

/**
 * What every write does, for every client: names, uids, generations, finalizers, grace. Knows nothing of HTTP and
 * checks nothing; clients are checked before they come here, and the cluster's own controllers are trusted.
 */
export class ObjectWriter {
  readonly #store: ObjectStore;
  readonly #clock: SimClock;
  readonly #random: Random;

  constructor(deps: { store: ObjectStore; clock: SimClock; random: Random }) {
    this.#store = deps.store;
    this.#clock = deps.clock;
    this.#random = deps.random;
  }

  now(): number {
    return this.#clock.now();
  }

  /** The object with what only the server sets: a full name, uid, creation time, first generation. */
  prepare(kind: Kind, object: KubeObject): KubeObject {
    const {
      deletionTimestamp: _at,
      deletionGracePeriodSeconds: _grace,
      generation: _generation,
      ...given
    } = object.metadata;
    const generateName = given.generateName ?? '';
    const name = given.name || (generateName === '' ? '' : this.generatedName(generateName));
    const metadata: ObjectMeta = {
      ...given,
      name,
      uid: this.#random.uuid(),
      resourceVersion: '',
      ...(kind.traits.hasGeneration === true ? { generation: 1 } : {}),
      creationTimestamp: printTime(this.#clock.now()),
    };
    return { ...object, metadata };
  }

  generatedName(stem: string): string {
    return stem.slice(0, longestGeneratedStem) + this.#random.suffix(suffixLength);
  }

  /** Stores a prepared object. Its name must be free. */
  insert(kind: Kind, prepared: KubeObject): KubeObject {
    return this.#store.create(kind.storedAs, prepared);
  }

  /** For the cluster's own controllers: prepares and stores at once. */
  create(kind: Kind, object: KubeObject): KubeObject {
    return this.insert(kind, this.prepare(kind, object));
  }

  /**
   * Stores a new state. Nothing is written when nothing changed. When the last finalizer of an object that is being
   * deleted goes, the object goes with it: what was handed in is the answer, and watches see the state before.
   */
  replace(kind: Kind, next: KubeObject, old: KubeObject): KubeObject {
    const { metadata } = next;
    if (sameJson(next, old)) return old;
    const waits = (metadata.finalizers ?? []).length > 0 || (metadata.deletionGracePeriodSeconds ?? 0) > 0;
    if (metadata.deletionTimestamp !== undefined && !waits && kind.traits.markDeleted === undefined) {
      this.#store.remove(kind.storedAs, old);
      return next;
    }
    return this.#store.update(kind.storedAs, next);
  }

  /** The generation after a change: one more when what the object asks for is another. */
  generationAfter(kind: Kind, next: KubeObject, old: KubeObject): number | undefined {
    const before = old.metadata.generation;
    if (kind.traits.hasGeneration !== true || before === undefined) return before;
    return this.#asksTheSame(kind, next, old) ? before : before + 1;
  }

  #asksTheSame(kind: Kind, next: KubeObject, old: KubeObject): boolean {
    if (kind.custom === undefined) return sameJson(next.spec, old.spec);
    const status = hasSubresource(kind, 'status');
    const asked = ({ metadata: _metadata, status: ownStatus, ...rest }: KubeObject): unknown =>
      status ? rest : { ...rest, status: ownStatus };
    return sameJson(asked(next), asked(old));
  }

  /** Deletes an object, or marks it as going while finalizers or grace hold it. */
  remove(kind: Kind, object: KubeObject, options: RemoveOptions = {}): Removal {
    const finalizers = finalizersFor(kind, object, options.propagation);
    const held = finalizers.length > 0;
    const { markDeleted } = kind.traits;
    if (markDeleted !== undefined) {
      if (object.metadata.deletionTimestamp !== undefined) return { object, gone: false };
      const told = markDeleted(object, printTime(this.#clock.now()));
      return { object: this.#store.update(kind.storedAs, told), gone: false };
    }
    if (kind.storedAs === 'pods') return this.#removeGracefully(kind, object, finalizers, options.graceSeconds);
    if (!held) return { object: this.#store.remove(kind.storedAs, object), gone: true };
    if (object.metadata.deletionTimestamp !== undefined) {
      const same = sameJson(finalizers, object.metadata.finalizers ?? []);
      if (same) return { object, gone: false };
      return { object: this.#store.update(kind.storedAs, withFinalizers(object, finalizers)), gone: false };
    }
    const marked = this.#marked(withFinalizers(object, finalizers), 0, this.#clock.now());
    return { object: this.#store.update(kind.storedAs, marked), gone: false };
  }

  #removeGracefully(kind: Kind, pod: KubeObject, finalizers: readonly string[], asked: number | undefined): Removal {
    const graceSeconds = graceOf(pod, asked);
    const before = pod.metadata.deletionGracePeriodSeconds;
    const pending = pod.metadata.deletionTimestamp !== undefined;
    // A pod that is going already only ever goes sooner.
    const sooner = !pending || before === undefined || graceSeconds < before;
    const at = this.#clock.now() + graceSeconds * 1000;
    let current = withFinalizers(pod, finalizers);
    if (sooner) current = this.#marked(current, graceSeconds, at);
    if (!sameJson(current, pod)) current = this.#store.update(kind.storedAs, current);
    const grace = current.metadata.deletionGracePeriodSeconds ?? 0;
    if (grace > 0 || finalizers.length > 0) return { object: current, gone: false };
    return { object: this.#store.remove(kind.storedAs, current), gone: true };
  }

  #marked(object: KubeObject, graceSeconds: number, at: number): KubeObject {
    const { generation, deletionTimestamp } = object.metadata;
    const first = deletionTimestamp === undefined;
    return {
      ...object,
      metadata: {
        ...object.metadata,
        ...(generation === undefined ? {} : { generation: first ? generation + 1 : generation }),
        deletionTimestamp: printTime(at),
        deletionGracePeriodSeconds: graceSeconds,
      },
    };
  }
}

function graceOf(pod: KubeObject, asked: number | undefined): number {
  const spec = pod.spec as { nodeName?: string; terminationGracePeriodSeconds?: number } | undefined;
  const phase = (pod.status as { phase?: string } | undefined)?.phase;
  // No node runs it, or it has ended: there is nothing to wait for.
  if (spec?.nodeName === undefined || spec.nodeName === '' || phase === 'Succeeded' || phase === 'Failed') return 0;
  const seconds = asked ?? spec.terminationGracePeriodSeconds ?? 30;
  return seconds < 0 ? 1 : seconds;
}

function withFinalizers(object: KubeObject, finalizers: readonly string[]): KubeObject {
  if (finalizers.length === 0) {
    const { finalizers: _none, ...metadata } = object.metadata;
    return { ...object, metadata };
  }
  return { ...object, metadata: { ...object.metadata, finalizers } };
}

/** The finalizers that hold a deletion: those it has, and the one that stands for how its dependents go. */
function finalizersFor(kind: Kind, object: KubeObject, asked: Propagation | undefined): readonly string[] {
  const present = object.metadata.finalizers ?? [];
  const ofGarbage = ['orphan', 'foregroundDeletion'];
  let wanted: string | undefined;
  if (asked === 'Orphan') wanted = 'orphan';
  else if (asked === 'Foreground') wanted = 'foregroundDeletion';
  else if (asked === undefined) {
    wanted = present.find((name) => ofGarbage.includes(name));
    if (wanted === undefined && kind.traits.orphansByDefault === true) wanted = 'orphan';
  }
  const others = present.filter((name) => !ofGarbage.includes(name));
  return wanted === undefined ? others : [...others, wanted];
}
