import type {
  ActiveJob,
  CronJobDetail,
  Execution,
  ExecutionDetail,
  JobLogs,
  Ref,
} from '@cronjob-monitor/shared/contract';
import { getCronJob } from '../../api/cronjobs.ts';
import { getExecution, listExecutions, readLog, type LogQuery } from '../../api/executions.ts';
import { msOf } from '../../format/time.ts';
import { lineOfHash } from '../../kit/log-view/log-lines.ts';
import { router } from '../../router.svelte.ts';
import { Resource } from '../../state/resource.svelte.ts';
import { concernsCronJob } from '../cronjob/state.svelte.ts';

/** Lines that are read at once; more on demand. */
export const firstLines = 500;
export const mostLines = 10_000;

/** One run: how it ended and why, its attempts, its log; or, until it ends, how it goes. */
export class RunState {
  readonly ref: Ref;
  readonly jobName: string;
  readonly run: Resource<ExecutionDetail>;
  readonly cronJob: Resource<CronJobDetail>;
  tailLines = $state(firstLines);

  constructor(ref: Ref, jobName: string) {
    this.ref = ref;
    this.jobName = jobName;
    this.cronJob = new Resource((signal) => getCronJob(ref, 0, signal), {
      concerns: (hint) => concernsCronJob(hint, ref),
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
  readonly #mayHaveLog: boolean = $derived.by(() => this.run.value !== undefined || this.active !== undefined);

  readonly log: Resource<JobLogs> | undefined = $derived.by(() => {
    if (!this.#mayHaveLog) return undefined;
    const query = JSON.parse(this.#logQuestion) as LogQuery; // made of the same type in the line above
    return new Resource((signal) => readLog(this.ref, this.jobName, query, signal), { isLive: false });
  });

  /** The run before and the run after, in the order of creation. */
  readonly before: Resource<Execution | undefined> | undefined = $derived.by(() => this.#neighbour('before'));
  readonly after: Resource<Execution | undefined> | undefined = $derived.by(() => this.#neighbour('after'));

  readonly #createdAt: string | undefined = $derived.by(() => this.run.value?.createdAt);

  #neighbour(which: 'before' | 'after'): Resource<Execution | undefined> | undefined {
    const at = this.#createdAt;
    if (at === undefined) return undefined;
    const next = new Date(msOf(at) + 1).toISOString();
    const far = new Date(msOf(at) - 400 * 86_400_000).toISOString();
    const query =
      which === 'before' ? { since: far, until: at, sort: '-time', limit: 1 } : { since: next, sort: 'time', limit: 1 };
    return new Resource(
      async (signal) => {
        const answer = await listExecutions(this.ref, query, signal);
        return { ...answer, value: answer.value.items[0] };
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
