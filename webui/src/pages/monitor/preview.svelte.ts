import type { MonitorPreview, Ref } from '@cronjob-monitor/shared/contract';
import { named } from '../../api/named.ts';
import { previewMonitor } from '../../api/monitors.ts';
import { plural } from '../../format/figures.ts';

/** Changed rules of a monitor, and what they would have told of the runs that are kept. Nothing is written. */
export class PreviewState {
  readonly #ref: Ref;
  readonly #ask: typeof previewMonitor;
  text = $state('');
  days = $state('30');
  isBusy = $state(false);
  failure = $state('');
  #made = $state.raw<{ readonly key: string; readonly result: MonitorPreview } | undefined>();

  constructor(ref: Ref, spec: unknown, ask: typeof previewMonitor = previewMonitor) {
    this.#ref = ref;
    this.#ask = ask;
    this.text = JSON.stringify(spec, null, 2);
  }

  /** Undefined while what is written is no JSON object. */
  readonly #spec: Readonly<Record<string, unknown>> | undefined = $derived.by(() => {
    try {
      const value: unknown = JSON.parse(this.text);
      const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
      return isObject ? (value as Readonly<Record<string, unknown>>) : undefined; // an object of JSON
    } catch {
      return undefined;
    }
  });

  /** Why it cannot be tried yet; undefined: it can. */
  readonly lack: string | undefined = $derived.by(() => {
    if (!this.#spec) return 'Write the spec as a JSON object';
    return /^([1-9]|[12]\d|30)$/.test(this.days.trim()) ? undefined : 'Give 1 to 30 days';
  });

  readonly #key: string = $derived(`${this.days} ${this.text}`);

  /** The answer to these very rules; undefined when they changed since. */
  readonly result: MonitorPreview | undefined = $derived(this.#made?.key === this.#key ? this.#made.result : undefined);

  async run(): Promise<void> {
    const spec = this.#spec;
    if (this.isBusy || this.lack !== undefined || !spec) return;
    const key = this.#key;
    const { namespace, name } = this.#ref;
    this.isBusy = true;
    this.failure = '';
    try {
      const input = { namespace, name, spec, days: Number(this.days) };
      this.#made = { key, result: await named('Could not try the rules', () => this.#ask(input)) };
    } catch (error) {
      this.failure = error instanceof Error ? error.message : 'No answer';
    } finally {
      this.isBusy = false;
    }
  }
}

/** What the rules would have told, in a sentence: `4 alerts of 12 CronJobs in 30 days`. */
export function previewText({ valid, alerts, cronJobs }: MonitorPreview, days: number): string {
  if (!valid) return 'The rules cannot be used';
  return `${plural(alerts.total, 'alert')} of ${plural(cronJobs.matched, 'CronJob')} in ${plural(days, 'day')}`;
}
