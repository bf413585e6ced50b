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
import { compareRun, getExecution, listExecutions, readLog, type LogQuery } from '../../api/executions.ts';
import { msOf } from '../../format/time.ts';
import { lineOfHash } from '../../kit/log-view/log-lines.ts';
import { router } from '../../router.svelte.ts';
import { wordIn } from '../../state/filters.ts';
import { Resource } from '../../state/resource.svelte.ts';
import { concernsCronJob } from '../cronjob/state.svelte.ts';

/** Lines that are read at once; more on demand. */
const firstLines = 500;
export const mostLines = 10_000;
/** Runs before it that it can be compared with by a menu. */
const offeredRuns = 12;
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
    this.cronJob = new Resource((signal) => getCronJob(ref, 0, signal), {
      concerns: (hint) => concernsCronJob(hint, ref),
      refs: () => [`${ref.namespace}/${ref.name}`],
    });
    this.run = new Resource((signal) => getExecution(ref, jobName, signal), {
      concerns: (hint) => hint.kind === 'execution' && concernsCronJob(hint, ref) && hint.data.jobName === jobName,
    });
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
    return new Resource((signal) => readLog(this.ref, this.jobName, query, signal), { isLive: false });
  });

  /** Runs before it, newest first, and the run after it, in the order of creation. */
  readonly before: Resource<readonly Execution[]> | undefined = $derived.by(() => this.#neighbours('before'));
  readonly after: Resource<readonly Execution[]> | undefined = $derived.by(() => this.#neighbours('after'));

  /** Name of the Job that it is held against; undefined: the newest success before. */
  readonly chosenOther: string | undefined = $derived.by(() => router.query.get('with') || undefined);
  readonly logView: LogViewName = $derived.by(() => wordIn(router.query, 'log', logViews, 'run'));
  readonly #hasEnded: boolean = $derived.by(() => this.run.value !== undefined);

  /** It beside another run; undefined while it goes on. */
  readonly comparison: Resource<RunComparison> | undefined = $derived.by(() => {
    if (!this.#hasEnded) return undefined;
    const other = this.chosenOther;
    return new Resource((signal) => compareRun(this.ref, this.jobName, other, signal), { isLive: false });
  });

  readonly #createdAt: string | undefined = $derived.by(() => this.run.value?.createdAt);

  #neighbours(which: 'before' | 'after'): Resource<readonly Execution[]> | undefined {
    const at = this.#createdAt;
    if (at === undefined) return undefined;
    const next = new Date(msOf(at) + 1).toISOString();
    const far = new Date(msOf(at) - 400 * 86_400_000).toISOString();
    const query =
      which === 'before'
        ? { since: far, until: at, sort: '-time', limit: offeredRuns }
        : { since: next, sort: 'time', limit: 1 };
    return new Resource(
      async (signal) => {
        const answer = await listExecutions(this.ref, query, signal);
        return { ...answer, value: answer.value.items };
      },
      { isLive: false },
    );
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
