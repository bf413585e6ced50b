import type { Kind } from '../kinds/kind.ts';
import type { Random } from '../random.ts';
import { printTime } from '../schema/go-time.ts';
import type { KubeObject } from '../storage/kube-object.ts';
import type { ObjectStore } from '../storage/object-store.ts';
import type { SimClock } from '../time/sim-clock.ts';
import type { ObjectWriter } from '../verbs/object-writer.ts';

interface EventText {
  readonly type: 'Normal' | 'Warning';
  readonly reason: string;
  readonly message: string;
  /** The part of the object that it is about. */
  readonly fieldPath?: string;
}

interface RecorderDeps {
  readonly store: ObjectStore;
  readonly writer: ObjectWriter;
  readonly clock: SimClock;
  readonly random: Random;
  readonly events: Kind;
  /** Whether a watch or a look would see an event that is gone again before the next look. */
  readonly isWatched: () => boolean;
}

/** Events of one source about one object: this many at once, then one in each refill. */
const burst = 25;
const refillMs = 300_000;
/** So many similar events within the window become one that says so. */
const similarLimit = 10;
const similarWindowMs = 600_000;
/** An event is written a little after what it tells of. */
const writeDelayMs = 2;
/** What is remembered about so many objects and texts; the oldest goes first. */
const remembered = 4_096;
/** Events are gone an hour after they last happened. */
export const eventLifeMs = 3_600_000;
/** From the end of its life until an event is gone, at the latest. */
export const eventSlackMs = 60_000;
const nanosPerMs = 1_000_000n;
const nanosPerStep = 50_000;

interface Seen {
  readonly name: string;
  count: number;
}

interface Similar {
  messages: Set<string>;
  firstAt: number;
}

/** Writes the events of one component as Kubernetes' own recorder does: repeats are counted, floods are held back. */
export class EventRecorder {
  readonly #component: string;
  readonly #deps: RecorderDeps;
  readonly #seen = new Map<string, Seen>();
  readonly #similar = new Map<string, Similar>();
  readonly #tokens = new Map<string, { left: number; at: number }>();
  #nanos = 0n;

  constructor(component: string, deps: RecorderDeps) {
    this.#component = component;
    this.#deps = deps;
  }

  record(about: KubeObject, text: EventText): void {
    const at = this.#deps.clock.now();
    // In weeks that pass in one go, events that are over before the end would be most of the work, and are not seen.
    if (this.#deps.clock.horizon - at > eventLifeMs + eventSlackMs && !this.#deps.isWatched()) return;
    this.#deps.clock.callAt(at + writeDelayMs, () => this.#write(about, text, at));
  }

  #write(about: KubeObject, given: EventText, at: number): void {
    const { uid } = about.metadata;
    const text = this.#combined(uid, given, at);
    if (!this.#allowed(uid, at)) return;
    const key = `${uid}/${text.fieldPath ?? ''}/${text.type}/${text.reason}/${text.message}`;
    const seen = this.#seen.get(key);
    const namespace = about.metadata.namespace ?? 'default';
    const known = seen === undefined ? undefined : this.#deps.store.get('events', namespace, seen.name);
    if (seen !== undefined && known !== undefined) {
      seen.count++;
      this.#deps.store.update('events', { ...known, count: seen.count, lastTimestamp: printTime(at) });
      return;
    }
    const event = this.#eventOf(about, text, at, namespace);
    remember(this.#seen, key, { name: event.metadata.name, count: 1 });
    if (this.#deps.store.get('namespaces', undefined, namespace) === undefined) return;
    this.#deps.writer.create(this.#deps.events, event);
  }

  #eventOf(about: KubeObject, text: EventText, at: number, namespace: string): KubeObject {
    const { name, uid, resourceVersion } = about.metadata;
    return {
      kind: 'Event',
      apiVersion: 'v1',
      metadata: {
        name: `${name}.${this.#nextNanos(at).toString(16)}`,
        namespace,
        uid: '',
        resourceVersion: '',
        creationTimestamp: '',
      },
      involvedObject: {
        kind: about.kind,
        ...(about.metadata.namespace === undefined ? {} : { namespace }),
        name,
        uid,
        apiVersion: about.apiVersion,
        resourceVersion,
        ...(text.fieldPath === undefined ? {} : { fieldPath: text.fieldPath }),
      },
      reason: text.reason,
      message: text.message,
      source: { component: this.#component },
      firstTimestamp: printTime(at),
      lastTimestamp: printTime(at),
      count: 1,
      type: text.type,
      eventTime: null,
      reportingComponent: this.#component,
      reportingInstance: '',
    };
  }

  /** Names end in the nanoseconds of their birth. The part below a millisecond is chance, but it grows. */
  #nextNanos(at: number): bigint {
    const chance = Math.floor(this.#deps.random.fraction() * nanosPerStep);
    const earliest = BigInt(at) * nanosPerMs;
    this.#nanos = (this.#nanos < earliest ? earliest : this.#nanos) + BigInt(1 + chance);
    return this.#nanos;
  }

  /** The event itself, or the one that stands for many that differ in their message alone. */
  #combined(uid: string, text: EventText, at: number): EventText {
    const key = `${uid}/${text.type}/${text.reason}`;
    let similar = this.#similar.get(key);
    if (similar === undefined || at - similar.firstAt > similarWindowMs) {
      similar = { messages: new Set(), firstAt: at };
      remember(this.#similar, key, similar);
    }
    similar.messages.add(text.message);
    if (similar.messages.size <= similarLimit) return text;
    return { ...text, message: `(combined from similar events): ${text.message}` };
  }

  #allowed(uid: string, at: number): boolean {
    const tokens = this.#tokens.get(uid) ?? { left: burst, at };
    const refilled = Math.min(burst, tokens.left + (at - tokens.at) / refillMs);
    const allowed = refilled >= 1;
    remember(this.#tokens, uid, { left: allowed ? refilled - 1 : refilled, at });
    return allowed;
  }
}

function remember<T>(map: Map<string, T>, key: string, value: T): void {
  map.delete(key);
  map.set(key, value);
  if (map.size <= remembered) return;
  const [oldest] = map.keys();
  if (oldest !== undefined) map.delete(oldest);
}
