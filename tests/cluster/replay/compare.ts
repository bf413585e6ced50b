/**
 * Holds an answer against a recorded one. Values at volatile places may differ, but a value that stands at two of them
 * must be one value in every run.
 */
export class Comparison {
  /** What differed, one sentence each. */
  readonly differences: string[] = [];
  /** The recorded value of a volatile place, and what stands for it in this run. */
  readonly #identities = new Map<string, { actual: unknown; place: string }>();
  readonly #versions = new Map<number, SeenVersion>();

  /** Compares the whole of `actual` with `recorded`; `volatile` are pointers from the step that `place` lies in. */
  check(recorded: unknown, actual: unknown, place: RecordedPlace, volatile: readonly string[]): void {
    const pointer = place.place.replace(/^\/steps\/\d+/, '');
    this.#check(recorded, actual, { ...place, pointer, volatile: new Volatile(volatile) });
  }

  note(difference: string): void {
    this.differences.push(difference);
  }

  /** Versions must have kept their order, but for writes so close to each other that it was chance. Call it last. */
  finish(): void {
    const sorted = [...this.#versions.values()].toSorted((a, b) => a.recorded - b.recorded);
    for (const [index, version] of sorted.entries()) {
      const before = sorted
        .slice(0, index)
        .find(
          (one) => one.actual > version.actual && (version.at - one.at > closeMs || isSame(one.about, version.about)),
        );
      if (before !== undefined) {
        this.note(`${version.place}: version ${version.actual} comes after ${before.actual} of ${before.place}`);
      }
    }
  }

  #check(recorded: unknown, actual: unknown, at: Place): void {
    if (at.volatile.has(at.pointer)) return this.#checkVolatile(recorded, actual, at);
    if (Array.isArray(recorded)) return this.#checkList(recorded, actual, at);
    if (isFields(recorded)) return this.#checkFields(recorded, actual, at);
    if (recorded !== actual) this.note(`${at.place}: ${shown(actual)} in place of ${shown(recorded)}`);
  }

  #checkFields(recorded: Fields, actual: unknown, at: Place): void {
    if (!isFields(actual)) return this.note(`${at.place}: ${shown(actual)} in place of an object`);
    for (const key of Object.keys(recorded)) {
      const inner = inside(at, key);
      if (actual[key] === undefined) this.note(`${inner.place}: missing, recorded ${shown(recorded[key])}`);
      else this.#check(recorded[key], actual[key], inner);
    }
    for (const key of Object.keys(actual)) {
      // Left out of all recorded answers that are not about it.
      if (recorded[key] !== undefined || actual[key] === undefined || key === 'managedFields') continue;
      this.note(`${at.place}/${key}: ${shown(actual[key])} was not recorded`);
    }
  }

  #checkList(recorded: readonly unknown[], actual: unknown, at: Place): void {
    if (!Array.isArray(actual)) return this.note(`${at.place}: ${shown(actual)} in place of a list`);
    if (actual.length !== recorded.length) {
      return this.note(`${at.place}: ${actual.length} items in place of ${recorded.length}: ${shown(actual)}`);
    }
    recorded.forEach((item, index) => this.#check(item, actual[index], inside(at, String(index))));
  }

  #checkVolatile(recorded: unknown, actual: unknown, at: Place): void {
    if (Array.isArray(recorded)) return this.#checkSet(recorded, actual, at);
    if (typeof recorded !== typeof actual || (recorded === null) !== (actual === null)) {
      return this.note(`${at.place}: ${shown(actual)} is of another type than ${shown(recorded)}`);
    }
    if (isFields(recorded)) return;
    const form = formOf(recorded);
    if (form !== formOf(actual)) {
      return this.note(`${at.place}: ${shown(actual)} is no ${form} as ${shown(recorded)} is`);
    }
    if (at.pointer.endsWith('/resourceVersion') && form === 'number') {
      const version = { ...at, recorded: Number(recorded), actual: Number(actual) };
      const known = this.#versions.get(version.recorded);
      if (known === undefined || known.at > version.at) this.#versions.set(version.recorded, version);
    }
    // Instants agree by accident when two things happen within one second; messages hold several values at once.
    if (form === 'time' || form === 'sentence' || typeof recorded !== 'string') return;
    const known = this.#identities.get(recorded);
    if (known === undefined) this.#identities.set(recorded, { actual, place: at.place });
    else if (known.actual !== actual) {
      this.note(`${at.place}: ${shown(actual)}, but at ${known.place} it was ${shown(known.actual)}; recorded as one`);
    }
  }

  /** A volatile list is a set: each recorded item must have one like it. */
  #checkSet(recorded: readonly unknown[], actual: unknown, at: Place): void {
    if (!Array.isArray(actual) || actual.length !== recorded.length) {
      return this.note(`${at.place}: ${shown(actual)} in place of ${shown(recorded)}`);
    }
    const left = [...actual] as unknown[];
    recorded.forEach((item, index) => {
      const found = left.findIndex((one) => this.#fits(item, one, inside(at, String(index))));
      if (found === -1) this.note(`${at.place}/${index}: nothing like ${shown(item)} among ${shown(actual)}`);
      else {
        this.#check(item, left[found], { ...inside(at, String(index)), volatile: at.volatile.without(at.pointer) });
        left.splice(found, 1);
      }
    });
  }

  #fits(recorded: unknown, actual: unknown, at: Place): boolean {
    const trial = new Comparison();
    for (const [key, value] of this.#identities) trial.#identities.set(key, value);
    trial.#check(recorded, actual, { ...at, volatile: at.volatile.without(at.pointer) });
    return trial.differences.length === 0;
  }
}

type Fields = Record<string, unknown>;

/** Writes within this time of each other may have come in any order. */
const closeMs = 250;

/** What is compared: a pointer into the case, and the offset at which that was recorded. */
interface RecordedPlace {
  readonly place: string;
  readonly at: number;
  /** The object that a line of a stream is about. */
  readonly about?: string;
}

interface SeenVersion extends RecordedPlace {
  readonly recorded: number;
  readonly actual: number;
}

interface Place extends RecordedPlace {
  readonly pointer: string;
  readonly volatile: Volatile;
}

class Volatile {
  readonly #pointers: readonly string[];
  readonly #patterns: readonly RegExp[];

  constructor(pointers: readonly string[]) {
    this.#pointers = pointers;
    this.#patterns = pointers.map(
      (pointer) => new RegExp(`^${pointer.replaceAll(/[.+?^${}()|[\]\\]/g, '\\$&').replaceAll('/*', '/[0-9]+')}$`),
    );
  }

  has(pointer: string): boolean {
    return this.#patterns.some((pattern) => pattern.test(pointer));
  }

  without(pointer: string): Volatile {
    return new Volatile(this.#pointers.filter((one) => one !== pointer));
  }
}

function inside(at: Place, key: string): Place {
  const escaped = key.replaceAll('~', '~0').replaceAll('/', '~1');
  return { ...at, place: `${at.place}/${escaped}`, pointer: `${at.pointer}/${escaped}` };
}

function isSame(a: string | undefined, b: string | undefined): boolean {
  return a !== undefined && a === b;
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function formOf(value: unknown): string {
  if (typeof value !== 'string') return typeof value;
  if (/^\d+$/.test(value)) return 'number';
  if (/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d/.test(value)) return 'time';
  if (/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(value)) return 'uuid';
  return value.includes(' ') ? 'sentence' : 'text';
}

function shown(value: unknown): string {
  const text = JSON.stringify(value) ?? 'nothing';
  return text.length > 400 ? `${text.slice(0, 400)}…` : text;
}
