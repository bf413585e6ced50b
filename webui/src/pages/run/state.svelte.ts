import type {
  ActiveJob,
  CronJobDetail,
  Execution,
  ExecutionDetail,
  JobLogs,
  Ref,
  RunComparison,
} from '@cronjob-monitor/shared/contract';
import { getCronJob } from '../../api/cronjobs.ts';
import { ApiError, type Answer } from '../../api/client.ts';
import { compareRun, getExecution, readLog, type LogQuery } from '../../api/executions.ts';
import { lineOfHash } from '../../kit/log-view/log-lines.ts';
import { router } from '../../router.svelte.ts';
import { wordIn } from '../../state/filters.ts';
import { Resource } from '../../state/resource.svelte.ts';
import { concernsCronJob } from '../cronjob/state.svelte.ts';

/** Lines that are read at once; more on demand. */
const firstLines = 500;
export const mostLines = 10_000;
/** How the log is shown. */
const logViews = ['run', 'difference', 'beside'] as const;
type LogViewName = (typeof logViews)[number];

/** One run: how it ended and why, its attempts, its log; or, until it ends, how it goes. */
export class RunState {
  readonly ref: Ref;
  readonly jobName: string;
  readonly run: Resource<ExecutionDetail>;
  readonly cronJob: Resource<CronJobDetail>;
  tailLines = $state(firstLines);
  /** The comparison that is shown: the one before stays while another is on its way. */
  compared: RunComparison | undefined = $state.raw();

  constructor(ref: Ref, jobName: string) {
    this.ref = ref;
    this.jobName = jobName;
    this.cronJob = new Resource((signal) => this.#askCronJob(signal), {
      concerns: (hint) => concernsCronJob(hint, ref),
      refs: () => [`${ref.namespace}/${ref.name}`],
    });
    this.run = new Resource((signal) => this.#askRun(signal), {
      concerns: (hint) => hint.kind === 'execution' && concernsCronJob(hint, ref) && hint.data.jobName === jobName,
    });
  }

  /** The first answer about the run; undefined: it was not asked for, or was heeded. */
  #first: Promise<Answer<ExecutionDetail> | undefined> | undefined;
  #wasAsked = false;

  #askRun(signal: AbortSignal): Promise<Answer<ExecutionDetail>> {
    const answer = getExecution(this.ref, this.jobName, signal);
    // Why there is none the resource of the run says.
    if (!this.#wasAsked) this.#first = answer.catch(() => undefined);
    this.#wasAsked = true;
    return answer;
  }

  /** A run that has ended brings its CronJob along with the first answer; of one that goes on there is none. */
  async #askCronJob(signal: AbortSignal): Promise<Answer<CronJobDetail>> {
    const brought = await this.#first;
    this.#first = undefined;
    const cronJob = brought?.value.cronjob;
    return brought && cronJob ? { ...brought, value: cronJob } : getCronJob(this.ref, {}, signal);
  }

  /** While it goes on it is no run of the history yet, but an active one of its CronJob. */
  readonly active: ActiveJob | undefined = $derived.by(() =>
    this.run.value ? undefined : this.cronJob.value?.activeJobs.find(({ jobName }) => jobName === this.jobName),
  );

  /** Neither ended nor active, as far as the answers say. */
  readonly isUnknown: boolean = $derived.by(
    () =>
      this.run.error?.status === 404 &&
      this.run.value === undefined &&
      this.cronJob.value !== undefined &&
      !this.active,
  );

  /** Which part of the log is asked for: in the address, but for how much of it. */
  readonly logQuery: LogQuery = $derived.by(() => {
    const { query } = router;
    const [pod, container] = [query.get('pod') ?? '', query.get('container') ?? ''];
    return {
      tailLines: this.#isFar ? mostLines : this.tailLines,
      ...(pod === '' ? {} : { pod }),
      ...(container === '' ? {} : { container }),
      ...(query.get('previous') === '1' ? { previous: true } : {}),
      // A line that was found in the kept log has its number there.
      ...(query.get('source') === 'stored' ? { source: 'stored' } : {}),
    };
  });
  /** The line that it opens at stands before the usual end. */
  readonly #isFar: boolean = $derived.by(
    () => (lineOfHash(router.hash) ?? this.run.value?.verdict?.logLine?.number ?? 0) > firstLines,
  );
  readonly #logQuestion: string = $derived(JSON.stringify(this.logQuery));
  /** What is known not to be had is not asked for: it may not be read, or its pod was gone when the run ended. */
  readonly #mayHaveLog: boolean = $derived.by(() => {
    const run = this.run.value;
    if (!run) return this.active !== undefined;
    return !run.withheld && run.logs?.unavailable !== 'podGone';
  });

  readonly log: Resource<JobLogs> | undefined = $derived.by(() => {
    if (!this.#mayHaveLog) return undefined;
    const query = JSON.parse(this.#logQuestion) as LogQuery; // made of the same type in the line above
    let isFirst = Object.keys(query).length === 1 && query.tailLines === firstLines;
    return new Resource(
      (signal) => {
        const brought = isFirst ? (this.#brought('log') ?? this.#refusedLog()) : undefined;
        isFirst = false;
        return brought ?? readLog(this.ref, this.jobName, query, signal);
      },
      { isLive: false },
    );
  });

  /** Runs before it, newest first, and the run after it, in the order of creation. */
  readonly before: readonly Execution[] = $derived.by(() => this.run.value?.around?.before ?? []);
  readonly after: Execution | undefined = $derived.by(() => this.run.value?.around?.after ?? undefined);

  /** Name of the Job that it is held against; undefined: the newest success before. */
  readonly chosenOther: string | undefined = $derived.by(() => router.query.get('with') || undefined);
  readonly logView: LogViewName = $derived.by(() => wordIn(router.query, 'log', logViews, 'run'));
  readonly #hasEnded: boolean = $derived.by(() => this.run.value !== undefined);

  /** It beside another run; undefined while it goes on. */
  readonly comparison: Resource<RunComparison> | undefined = $derived.by(() => {
    if (!this.#hasEnded) return undefined;
    const other = this.chosenOther;
    return new Resource(
      (signal) =>
        (other === undefined && this.#brought('compare')) || compareRun(this.ref, this.jobName, other, signal),
      { isLive: false },
    );
  });

  /** What came with the run; undefined: it did not. */
  #brought<Piece extends 'log' | 'compare'>(
    piece: Piece,
  ): Promise<Answer<NonNullable<ExecutionDetail[Piece]>>> | undefined {
    const value = this.run.value?.[piece];
    return value ? Promise.resolve({ value, changed: true, servedAt: undefined }) : undefined;
  }

  /** The answer about the run said that no log can be had: the same is not asked again unless a person wants it. */
  #refusedLog(): Promise<never> | undefined {
    const reason = this.run.value?.noLog;
    if (reason === undefined) return undefined;
    const refusal = { message: 'No log can be had', code: 'LOGS_UNAVAILABLE', status: 404, requestId: null };
    return Promise.reject(new ApiError({ ...refusal, details: { reason } }));
  }

  setLog(changes: { pod?: string; container?: string; previous?: boolean }): void {
    this.tailLines = firstLines;
    router.setQuery(
      {
        ...(changes.pod === undefined ? {} : { pod: changes.pod, container: undefined }),
        ...(changes.container === undefined ? {} : { container: changes.container }),
        ...(changes.previous === undefined ? {} : { previous: changes.previous ? '1' : undefined }),
      },
      'replace',
    );
  }
}
