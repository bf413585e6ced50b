import {
  type AlertDetail,
  type CronJobDetail,
  type Execution,
  type Ref,
  refText,
} from '@cronjob-monitor/shared/contract';
import { getAlert } from '../../api/alerts.ts';
import type { Answer } from '../../api/client.ts';
import { getCronJob } from '../../api/cronjobs.ts';
import { listExecutions } from '../../api/executions.ts';
import type { Hint } from '../../api/stream.ts';
import { lineGroups, timelineLines, type TimelineLine } from '../../format/alert-timeline.ts';
import { router } from '../../router.svelte.ts';
import { wordIn } from '../../state/filters.ts';
import { Resource } from '../../state/resource.svelte.ts';
import { viewer } from '../../state/viewer.svelte.ts';

export const shownGroups = ['all', ...lineGroups] as const;
type ShownGroup = (typeof shownGroups)[number];

/** A run that began so long before the condition may still be its cause. */
const before = 6 * 3_600_000;
const mostRuns = 50;
/** Runs that had begun when the condition did: the first of a series of failures is among them. */
const mostFirst = 3;

/** One alert: what it says, who was told, why it came to that. Its CronJob and its runs are asked as soon as it is known whose it is. */
export class AlertState {
  readonly id: string;
  readonly detail: Resource<AlertDetail>;
  readonly shown: ShownGroup = $derived(wordIn(router.query, 'show', shownGroups, 'all'));
  // Texts, so that another answer about the same CronJob asks nothing anew.
  readonly #about: string | undefined = $derived.by(() => {
    const alert = this.detail.value;
    // Of a CronJob of which nothing is kept there is nothing to ask for.
    return alert?.cronjobKept ? refText(alert.cronjob) : undefined;
  });
  readonly #since: string | undefined = $derived.by(() => this.detail.value?.since);

  constructor(id: string) {
    this.id = id;
    this.detail = new Resource((signal) => getAlert(id, signal), { concerns: (hint) => concernsAlert(hint, id) });
  }

  readonly #ref: Ref | undefined = $derived.by(() => {
    const [namespace, name] = this.#about?.split('/') ?? [];
    return namespace !== undefined && name !== undefined ? { namespace, name } : undefined;
  });

  readonly cronJob: Resource<CronJobDetail> | undefined = $derived.by(() => {
    const ref = this.#ref;
    if (!ref) return undefined;
    return new Resource((signal) => getCronJob(ref, {}, signal), {
      concerns: (hint) => concernsRuns(hint, ref),
      refs: () => [`${ref.namespace}/${ref.name}`],
    });
  });

  readonly runs: Resource<readonly Execution[]> | undefined = $derived.by(() => {
    const ref = this.#ref;
    const since = this.#since;
    if (!ref || since === undefined) return undefined;
    return new Resource((signal) => readRuns(ref, since, signal), { concerns: (hint) => concernsRuns(hint, ref) });
  });

  /** Newest first; only what is chosen. */
  readonly lines: readonly TimelineLine[] = $derived.by(() => {
    const alert = this.detail.value;
    if (!alert) return [];
    const runs = (this.runs?.value ?? []).filter((run) => belongs(run, alert));
    const lines = timelineLines(alert.timeline, runs, viewer);
    return this.shown === 'all' ? lines : lines.filter(({ group }) => group === this.shown);
  });
}

/** The newest runs of the alert's time, and where these are too many the ones with which it began. */
async function readRuns(ref: Ref, since: string, signal: AbortSignal): Promise<Answer<readonly Execution[]>> {
  const from = new Date(Date.parse(since) - before).toISOString();
  const newest = await listExecutions(ref, { since: from, limit: mostRuns }, signal);
  const { items, pagination } = newest.value;
  if (!pagination.hasMore) return { ...newest, value: items };
  const until = new Date(Date.parse(since) + 1).toISOString();
  const first = await listExecutions(ref, { since: from, until, limit: mostFirst }, signal);
  const runs = new Map([...items, ...first.value.items].map((run) => [run.id, run]));
  return { ...newest, changed: newest.changed || first.changed, value: [...runs.values()] };
}

/** Whether a change may have changed what this page says of an alert. */
export function concernsAlert(hint: Hint, id: string): boolean {
  if (hint.kind === 'alert') return hint.data.id === id;
  if (hint.kind === 'delivery') return hint.data.alertId === id;
  return hint.kind === 'silence';
}

function concernsRuns(hint: Hint, { namespace, name }: Ref): boolean {
  if (hint.kind === 'execution') return hint.data.namespace === namespace && hint.data.cronJobName === name;
  return hint.kind === 'cronjob' && hint.data.namespace === namespace && hint.data.name === name;
}

/** Runs that ended while the alert was open, and the one that it is about. */
export function belongs(
  run: Pick<Execution, 'jobName' | 'completionTime' | 'createdAt'>,
  alert: Pick<AlertDetail, 'since' | 'endedAt' | 'context'>,
): boolean {
  if (run.jobName === alert.context.jobName) return true;
  const at = run.completionTime ?? run.createdAt;
  return at >= alert.since && (alert.endedAt === null || at <= alert.endedAt);
}
