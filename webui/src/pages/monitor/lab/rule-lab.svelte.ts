import {
  type MonitorPreview,
  type PreviewFinding,
  type PreviewHistogram,
  type Ref,
  isObject,
  type Json,
} from '@cronjob-monitor/shared/contract';
import { previewMonitor, suggestLimits } from '../../../api/monitors.ts';
import { named } from '../../../api/named.ts';

import { after } from '../../../state/timer.ts';
import { readField, ruleFields, sayValue, type RuleField } from './rule-fields.ts';

const waitMs = 250;

interface Means {
  readonly ask: typeof previewMonitor;
  readonly suggest: typeof suggestLimits;
  readonly after: typeof after;
}

/** Rules of a monitor as they are changed in the form, and what the service says of them. Nothing is written. */
export class RuleLabState {
  readonly inForce: Json;
  readonly #ref: Ref;
  readonly #means: Means;
  /** The rules as they stand in the form, without what cannot be read. */
  spec: Json = $state.raw({});
  /** What is typed and cannot be read, by the path of its field. */
  #typed: Readonly<Record<string, string>> = $state.raw({});
  /** The newest answer about rules that can be used: it stays while others are tried. */
  drawn: MonitorPreview | undefined = $state.raw();
  #answer: MonitorPreview | undefined = $state.raw();
  /** Why a limit was suggested, by the path of its field; until the field is changed. */
  #whys: Readonly<Record<string, string>> = $state.raw({});
  isSuggesting = $state(false);
  json = $state('');
  isBusy = $state(false);
  failure = $state('');
  #cancel: () => void = () => {};
  #asked = 0;

  constructor(ref: Ref, inForce: Json, means: Means = { ask: previewMonitor, suggest: suggestLimits, after }) {
    this.#ref = ref;
    this.inForce = inForce;
    this.#means = means;
    this.#take(inForce);
  }

  /** Begins with the page. Returns what ends it. */
  start(): () => void {
    void this.#ask();
    return () => {
      this.#cancel();
      this.#asked++;
    };
  }

  readonly changed: number = $derived(
    ruleFields.filter((field) => describe(field, this.spec) !== describe(field, this.inForce)).length,
  );

  /** Why the text of the whole spec is not used; undefined: it is. */
  readonly jsonProblem: string | undefined = $derived(
    readJson(this.json) ? undefined : 'Write the spec as a JSON object: the last one that could be read is tried',
  );

  /** Something is being tried: the drawing is that of other rules. */
  readonly isOld: boolean = $derived.by(() => this.isBusy || this.#answer !== this.drawn);

  textOf({ path, kind, valueOf, preset }: RuleField): string {
    return this.#typed[path] ?? sayValue(kind, valueOf(this.spec) ?? preset);
  }

  /** Why this field is not used: what is typed cannot be read, or the service refuses it. */
  problemOf({ path, kind, isOn }: RuleField): string | undefined {
    const typed = this.#typed[path];
    const read = typed === undefined ? undefined : readField(kind, typed);
    if (read && 'problem' in read) return read.problem;
    if (!isOn(this.spec)) return undefined;
    return this.#findings.find((one) => one.level === 'error' && isAbout(one, path))?.message;
  }

  /** What lint has to say of a field that is used. */
  notesOf({ path, isOn }: RuleField): readonly PreviewFinding[] {
    return isOn(this.spec) ? this.#findings.filter((one) => one.level !== 'error' && isAbout(one, path)) : [];
  }

  /** What is said of no field of the form. */
  readonly others: readonly PreviewFinding[] = $derived.by(() =>
    this.#findings.filter((one) => !ruleFields.some(({ path, isOn }) => isOn(this.spec) && isAbout(one, path))),
  );

  get #findings(): readonly PreviewFinding[] {
    return this.#answer?.findings ?? [];
  }

  whyOf({ path }: RuleField): string | undefined {
    return this.#whys[path];
  }

  histogramOf({ histogram }: RuleField): PreviewHistogram | undefined {
    return this.drawn?.histograms.find(({ path }) => path === histogram);
  }

  type(field: RuleField, text: string): void {
    const read = readField(field.kind, text);
    this.#forget(field.path);
    this.#typed = { ...this.#typed, [field.path]: text };
    if ('value' in read) this.#change(field.write(this.spec, read.value));
  }

  /** The field is left: what could be read is written as the form writes it. */
  settle({ path, kind }: RuleField): void {
    const typed = this.#typed[path];
    if (typed !== undefined && 'value' in readField(kind, typed)) this.#forget(path);
  }

  set(field: RuleField, value: string): void {
    this.#forget(field.path);
    this.#change(field.write(this.spec, value));
  }

  /** A rule that is switched on again has the value that is in force. */
  turn(field: RuleField, isOn: boolean): void {
    this.#forget(field.path);
    const before = field.valueOf(this.spec) ?? field.valueOf(this.inForce);
    const turned = field.switchTo(this.spec, isOn);
    const isUsable = isOn && before !== undefined && !(field.kind === 'percent' && Number(before) === 0);
    this.#change(isUsable ? field.write(turned, before) : turned);
  }

  /** Fills the form with limits that the stored runs would keep; what nothing speaks for stays. */
  async suggest(): Promise<void> {
    this.isSuggesting = true;
    try {
      const { items } = await named('Could not suggest limits', () => this.#means.suggest(this.#ref));
      for (const { path, value } of items) {
        const field = ruleFields.find((one) => one.path === path);
        if (field)
          this.#change(field.write(field.isOn(this.spec) ? this.spec : field.switchTo(this.spec, true), value));
      }
      this.#typed = {};
      this.#whys = Object.fromEntries(items.map(({ path, why }) => [path, why]));
      this.failure = items.length === 0 ? 'Too few runs are stored to suggest a limit' : '';
    } catch (error) {
      this.failure = error instanceof Error ? error.message : 'No answer';
    }
    this.isSuggesting = false;
  }

  typeJson(text: string): void {
    this.json = text;
    const spec = readJson(text);
    if (!spec) return;
    this.#typed = {};
    this.spec = spec;
    this.#askSoon();
  }

  reset(): void {
    this.#take(this.inForce);
    this.#askSoon();
  }

  #forget(path: string): void {
    const others = (all: Readonly<Record<string, string>>): Readonly<Record<string, string>> =>
      Object.fromEntries(Object.entries(all).filter(([key]) => key !== path));
    this.#typed = others(this.#typed);
    this.#whys = others(this.#whys);
  }

  #take(spec: Json): void {
    this.#typed = {};
    this.#whys = {};
    this.spec = spec;
    this.json = JSON.stringify(spec, null, 2);
  }

  #change(spec: Json): void {
    this.spec = spec;
    this.json = JSON.stringify(spec, null, 2);
    this.#askSoon();
  }

  #askSoon(): void {
    this.#cancel();
    this.isBusy = true;
    this.#cancel = this.#means.after(waitMs, () => void this.#ask());
  }

  /** The answer to the newest question counts: an older one that comes late is left. */
  async #ask(): Promise<void> {
    const mine = ++this.#asked;
    this.isBusy = true;
    const input = { ...this.#ref, spec: this.spec, days: 30 };
    try {
      const answer = await named('Could not try the rules', () => this.#means.ask(input));
      if (mine !== this.#asked) return;
      this.failure = '';
      this.#answer = answer;
      if (answer.valid) this.drawn = answer;
    } catch (error) {
      if (mine !== this.#asked) return;
      this.failure = error instanceof Error ? error.message : 'No answer';
    }
    this.isBusy = false;
  }
}

function describe(field: RuleField, spec: Json): string {
  return field.isOn(spec) ? (field.valueOf(spec) ?? field.preset) : 'off';
}

function isAbout({ path: of }: PreviewFinding, path: string): boolean {
  return of === path || of.startsWith(`${path}.`) || of.startsWith(`${path}:`);
}

function readJson(text: string): Json | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
