import type {
  ExecutionDetail,
  PatternMatch,
  PatternTestInput,
  PatternTestResult,
} from '@cronjob-monitor/shared/contract';
import { getExecution } from '../../api/executions.ts';
import { testPattern } from '../../api/monitors.ts';
import { named } from '../../api/named.ts';

/** A pattern of suggested fixes as a person writes it, and a run to try it on. The server tries it: its engine is the one that counts. */
export class PatternForm {
  readonly #ask: typeof testPattern;
  exitCode = $state('');
  reason = $state('');
  reasonPattern = $state('');
  logPattern = $state('');
  eventPattern = $state('');
  suggestion = $state('');
  monitor = $state('');
  runExitCode = $state('');
  runReason = $state('');
  logs = $state('');
  events = $state('');
  /** A run that is kept, as its page names it: `data/nightly-backup/runs/nightly-backup-29920440`, or the whole address. */
  stored = $state('');
  isBusy = $state(false);
  failure = $state('');
  #made = $state.raw<{ readonly key: string; readonly result: PatternTestResult } | undefined>();

  constructor(ask: typeof testPattern = testPattern) {
    this.#ask = ask;
  }

  /** `137` is one exit code, `1-9` a range. Undefined: neither. */
  readonly #codes: Pick<PatternMatch, 'exitCode' | 'exitCodeRange'> | undefined = $derived.by(() => {
    const text = this.exitCode.trim();
    if (text === '') return {};
    const [, from, , to] = /^(\d{1,3})(\s*-\s*(\d{1,3}))?$/.exec(text) ?? [];
    if (from === undefined) return undefined;
    return to === undefined ? { exitCode: Number(from) } : { exitCodeRange: { min: Number(from), max: Number(to) } };
  });

  readonly #match: PatternMatch = $derived({
    ...this.#codes,
    ...(this.reason.trim() === '' ? {} : { reason: this.reason.trim() }),
    ...(this.reasonPattern === '' ? {} : { reasonPattern: this.reasonPattern }),
    ...(this.logPattern === '' ? {} : { logPattern: this.logPattern }),
    ...(this.eventPattern === '' ? {} : { eventPattern: this.eventPattern }),
  });

  readonly #ref = $derived.by(() => {
    const [namespace = '', name = ''] = this.monitor.trim().split('/');
    return name === '' ? undefined : { namespace, name };
  });

  /** No pattern is written: those of the monitor are tried. */
  readonly #isOfMonitorAlone: boolean = $derived(
    this.#ref !== undefined && Object.keys(this.#match).length === 0 && this.suggestion.trim() === '',
  );

  /** Why it cannot be tried yet; undefined: it can. */
  readonly lack: string | undefined = $derived.by(() => {
    if (this.#codes === undefined) return 'Write an exit code as 137, or a range as 1-9';
    if (!/^$|^[^/\s]+\/[^/\s]+$/.test(this.monitor.trim())) return 'Write the monitor as namespace/name';
    if (!this.#isOfMonitorAlone && Object.keys(this.#match).length === 0) return 'Give at least one criterion';
    if (!this.#isOfMonitorAlone && this.suggestion.trim() === '') return 'Write what it suggests';
    return /^\d*$/.test(this.runExitCode.trim()) ? undefined : 'The exit code of the run is a whole number';
  });

  readonly input: PatternTestInput = $derived({
    ...(this.#isOfMonitorAlone
      ? {}
      : { pattern: { name: 'tried', match: this.#match, suggestion: this.suggestion.trim() } }),
    ...(this.#ref === undefined ? {} : { monitor: this.#ref }),
    testContext: {
      ...(this.runExitCode.trim() === '' ? {} : { exitCode: Number(this.runExitCode.trim()) }),
      ...(this.runReason.trim() === '' ? {} : { reason: this.runReason.trim() }),
      ...(this.logs === '' ? {} : { logs: this.logs }),
      ...(this.events.trim() === '' ? {} : { events: this.events.split('\n').filter((line) => line.trim() !== '') }),
    },
  });

  /** Fills in what is kept of a run. Without rights to its log that stays as it is. */
  async take(read: typeof getExecution = getExecution): Promise<void> {
    const [, namespace, name, jobName] =
      /([^/\s]+)\/([^/\s]+)\/(?:runs\/)?([^/\s?#]+)(?:[?#].*)?$/.exec(this.stored.trim()) ?? [];
    this.failure = '';
    if (namespace === undefined || name === undefined || jobName === undefined) {
      this.failure = 'Write the run as namespace/cronjob/run, or paste the address of its page';
      return;
    }
    try {
      const { value } = await named('Could not read the run', () => read({ namespace, name }, jobName));
      this.#fill(value);
    } catch (error) {
      this.failure = error instanceof Error ? error.message : 'No answer';
    }
  }

  #fill({ exitCode, reason, logs, events }: ExecutionDetail): void {
    this.runExitCode = exitCode === null ? '' : String(exitCode);
    this.runReason = reason ?? '';
    if (logs !== null) this.logs = logs.text;
    if (events !== null) this.events = events.map((event) => `${event.reason}: ${event.message}`).join('\n');
  }

  readonly #key: string = $derived(JSON.stringify(this.input));

  /** The answer to this very input; undefined when it changed since. */
  readonly result: PatternTestResult | undefined = $derived(
    this.#made?.key === this.#key ? this.#made.result : undefined,
  );

  async test(): Promise<void> {
    if (this.isBusy || this.lack !== undefined) return;
    this.isBusy = true;
    this.failure = '';
    const key = this.#key;
    try {
      this.#made = { key, result: await named('Could not try the pattern', () => this.#ask(this.input)) };
    } catch (error) {
      this.failure = error instanceof Error ? error.message : 'No answer';
    } finally {
      this.isBusy = false;
    }
  }
}
