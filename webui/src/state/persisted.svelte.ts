/** A preference of this browser: read once, written on each change. Where storage is off it lasts as long as the page. */
export class Persisted<T> {
  readonly #key: string;
  #value: T = $state() as T;

  constructor(name: string, initial: T, isValid: (value: unknown) => value is T) {
    this.#key = `cronjob-monitor.${name}`;
    this.#value = read(this.#key, isValid) ?? initial;
  }

  get value(): T {
    return this.#value;
  }

  set value(value: T) {
    this.#value = value;
    try {
      localStorage.setItem(this.#key, JSON.stringify(value));
    } catch {
      // Storage is off or full: the choice lasts for this page.
    }
  }
}

function read<T>(key: string, isValid: (value: unknown) => value is T): T | undefined {
  try {
    const value: unknown = JSON.parse(localStorage.getItem(key) ?? 'null');
    return isValid(value) ? value : undefined;
  } catch {
    return undefined; // nothing stored, storage off, or not ours
  }
}
