import { isKnownZone } from '../format/time.ts';

export const themes = ['system', 'light', 'dark'] as const;
export type Theme = (typeof themes)[number];
export const zones = ['utc', 'browser', 'cluster'] as const;
export type Zone = (typeof zones)[number];
export const densities = ['comfortable', 'dense'] as const;
type Density = (typeof densities)[number];

function oneOf<T extends string>(words: readonly T[]): (value: unknown) => value is T {
  return (value): value is T => words.some((word) => word === value);
}
const isText = (value: unknown): value is string => typeof value === 'string';
const areTexts = (value: unknown): value is readonly string[] => Array.isArray(value) && value.every(isText);
const isBoolean = (value: unknown): value is boolean => typeof value === 'boolean';

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

/** What this browser prefers: none of it is in an address, all of it outlives the page. */
class Preferences {
  readonly #theme = new Persisted<Theme>('theme', 'system', oneOf(themes));
  readonly #zone = new Persisted<Zone>('zone', 'utc', oneOf(zones));
  readonly #density = new Persisted<Density>('density', 'comfortable', oneOf(densities));
  readonly #singleKeys = new Persisted<boolean>('single-keys', true, isBoolean);
  readonly #ownName = new Persisted<string>('own-name', '', isText);
  readonly #recent = new Persisted<readonly string[]>('recent', [], areTexts);
  readonly #accessTold = new Persisted<boolean>('access-told', false, isBoolean);
  /** Whether the banner that there is no sign-in is open: on the first visit it is, later once its chip is pressed. */
  isAccessUnfolded = $state(!this.#accessTold.value);
  /** `cluster.default-time-zone`, as soon as the service has said it. */
  clusterZone = $state('UTC');

  /** What this browser calls its own zone, once it was asked. */
  ownZone: string | undefined = $state();

  /** The zone in which every time and axis is told; UTC where this browser does not know the chosen one. */
  readonly timeZone: string = $derived.by(() => {
    const name = this.zoneName(this.#zone.value);
    return isKnownZone(name) ? name : 'UTC';
  });

  zoneName(zone: Zone): string {
    if (zone === 'utc') return 'UTC';
    return zone === 'cluster' ? this.clusterZone : new Intl.DateTimeFormat().resolvedOptions().timeZone;
  }

  /** After the first paint: its first word on time zones takes a browser up to 40 ms. */
  learnOwnZone(): void {
    setTimeout(() => (this.ownZone = this.zoneName('browser')));
  }

  /** What was chosen in the palette last. */
  get recent(): readonly string[] {
    return this.#recent.value;
  }
  set recent(ids: readonly string[]) {
    this.#recent.value = ids;
  }

  get theme(): Theme {
    return this.#theme.value;
  }
  set theme(theme: Theme) {
    this.#theme.value = theme;
    this.applyTheme();
  }

  /** The same as the file that runs before the first paint. */
  applyTheme(): void {
    const { dataset } = document.documentElement;
    if (this.theme === 'system') delete dataset['theme'];
    else dataset['theme'] = this.theme;
  }

  get zone(): Zone {
    return this.#zone.value;
  }
  set zone(zone: Zone) {
    this.#zone.value = zone;
  }

  get density(): Density {
    return this.#density.value;
  }
  set density(density: Density) {
    this.#density.value = density;
  }

  /** Whether single letters are shortcuts. */
  get singleKeys(): boolean {
    return this.#singleKeys.value;
  }
  set singleKeys(on: boolean) {
    this.#singleKeys.value = on;
  }

  /** What this person calls themselves where the service does not ask who they are. */
  get ownName(): string {
    return this.#ownName.value;
  }
  set ownName(name: string) {
    this.#ownName.value = name;
  }

  /** The next visit begins with the chip alone. */
  noteAccessTold(): void {
    this.#accessTold.value = true;
  }
}

export const preferences = new Preferences();
