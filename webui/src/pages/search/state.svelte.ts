import {
  executionStatuses,
  type ExecutionStatus,
  type LogHit,
  type LogSearchResult,
} from '@cronjob-monitor/shared/contract';
import { ApiError, type Query } from '../../api/client.ts';
import { searchLogs } from '../../api/executions.ts';
import { router } from '../../router.svelte.ts';
import { listIn, wordIn, wordsIn } from '../../state/filters.ts';
import { now } from '../../state/now.svelte.ts';

export const searchRanges = ['1', '7', '30', '90'] as const;
const dayMs = 86_400_000;
/** It goes on by itself for so long, and until so many lines more are found. */
const searchMs = 5_000;
const mostHits = 50;

/** A search through kept logs: what is looked for and where is in the address, and what was found grows as it goes on. */
export class LogSearchState {
  readonly wanted: string = $derived(router.query.get('q') ?? '');
  readonly isRegex: boolean = $derived(router.query.get('regex') === '1');
  readonly namespaces: readonly string[] = $derived(listIn(router.query, 'ns'));
  readonly cronJobs: readonly string[] = $derived(listIn(router.query, 'cronjob'));
  readonly statuses: readonly ExecutionStatus[] = $derived(wordsIn(router.query, 'status', executionStatuses));
  readonly range = $derived(wordIn(router.query, 'days', searchRanges, '30'));

  readonly question: string = $derived(
    JSON.stringify([this.wanted, this.isRegex, this.namespaces, this.cronJobs, this.statuses, this.range]),
  );

  hits: readonly LogHit[] = $state.raw([]);
  /** The answer before; undefined: none has come. */
  last: LogSearchResult | undefined = $state.raw();
  failure: ApiError | undefined = $state.raw();
  isSearching: boolean = $state(false);
  #stop = new AbortController();

  /** Begins anew, for what the address says now. */
  begin(): void {
    this.#stop.abort();
    this.hits = [];
    this.last = undefined;
    this.failure = undefined;
    this.isSearching = false;
    if (this.wanted !== '') void this.goOn();
  }

  stop(): void {
    this.#stop.abort();
  }

  /** Looks further back, where the answer before ended: answers come as lines are found, and after a while it waits to be asked again. */
  async goOn(): Promise<void> {
    const stop = new AbortController();
    this.#stop = stop;
    this.isSearching = true;
    this.failure = undefined;
    const untilMs = now.preciseMs + searchMs;
    const enough = this.hits.length + mostHits;
    try {
      do {
        const { value } = await searchLogs(this.#query(), stop.signal);
        if (stop.signal.aborted) return;
        this.last = value;
        this.hits = [...this.hits, ...value.items];
      } while (this.last.cursor !== null && this.hits.length < enough && now.preciseMs < untilMs);
    } catch (error) {
      if (stop.signal.aborted) return;
      if (!(error instanceof ApiError)) throw error;
      this.failure = error;
    } finally {
      if (!stop.signal.aborted) this.isSearching = false;
    }
  }

  change(query: Readonly<Record<string, string | undefined>>): void {
    router.setQuery(query, 'replace');
  }

  #query(): Query {
    return {
      q: this.wanted,
      ...(this.isRegex ? { regex: true } : {}),
      namespace: this.namespaces,
      cronjob: this.cronJobs,
      status: this.statuses,
      since: new Date(now.preciseMs - Number(this.range) * dayMs).toISOString(),
      ...(this.last?.cursor ? { cursor: this.last.cursor } : {}),
    };
  }
}
