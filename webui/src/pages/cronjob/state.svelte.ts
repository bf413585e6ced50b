import { untrack } from 'svelte';
import type {
  AlertType,
  CronJobDetail,
  CronJobInclude,
  CronJobRoutes,
  Execution,
  ExecutionPage,
  MonitorDetail,
  Pagination,
  RecentRun,
  Ref,
  Series,
  SlaSubject,
  SlaTarget,
  SlotPage,
} from '@cronjob-monitor/shared/contract';
import { alertTypes, executionStatuses, executionTriggers, isGroupName } from '@cronjob-monitor/shared/contract';
import type { Answer, Query } from '../../api/client.ts';
import { getCronJob, getRoute, getSeries, listUnmetSlots } from '../../api/cronjobs.ts';
import { listExecutions } from '../../api/executions.ts';
import { getMonitor } from '../../api/monitors.ts';
import type { Hint } from '../../api/stream.ts';
import type { DurationPoint } from '../../charts/duration/daily.ts';
import { msOf } from '../../format/time.ts';
import { router } from '../../router.svelte.ts';
import { countIn, wordIn, wordsIn } from '../../state/filters.ts';
import { now } from '../../state/now.svelte.ts';
import { pieceOf, Resource, type Shown } from '../../state/resource.svelte.ts';
import { viewer } from '../../state/viewer.svelte.ts';

/** Expected runs in the strip. */
const stripLength = 90;
export const runsPerPage = 20;
/** Runs that the detail has itself. */
const detailRuns = 20;
const ranges = ['7', '14', '30', '90'] as const;
type RangeDays = (typeof ranges)[number];
/** One is shown at a time; its name is in the address. */
export const cronJobParts = ['now', 'runs', 'trends', 'rules'] as const;
type CronJobPart = (typeof cronJobParts)[number];
export const partWords: Readonly<Record<CronJobPart, string>> = {
  now: 'Now',
  runs: 'Runs',
  trends: 'Trends',
  rules: 'Rules',
};
/** Shown beside each part. */
const ofRail = ['advice', 'tonight', 'targets'] as const;
const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
/** Runs of a chart: read page by page, and no more than can be told apart. */
const chartPage = 500;
const mostChartRuns = 2_000;

/** What the chart shows: the newest runs of the range. */
export interface ChartRuns {
  /** Oldest first. */
  readonly runs: readonly Execution[];
  /** The range holds more than are shown. */
  readonly isCut: boolean;
  readonly fromMs: number;
  readonly untilMs: number;
}

/** One CronJob: how it stands, its runs, its figures. Its view is in the address. */
export class CronJobState {
  readonly ref: Ref;
  readonly detail: Resource<CronJobDetail>;
  readonly #concerns: (hint: Hint) => boolean;
  /** Of charts over days: one run more is in them once in a minute, after a few soon. */
  readonly #ofRuns: { readonly concerns: (hint: Hint) => boolean; readonly fleetPauseMs: number };

  constructor(ref: Ref) {
    this.ref = ref;
    this.#concerns = (hint) => concernsCronJob(hint, ref);
    this.#ofRuns = {
      concerns: (hint) => hint.kind === 'execution' && this.#concerns(hint),
      fleetPauseMs: 60_000,
    };
    this.detail = new Resource((signal) => this.#askDetail(signal), {
      concerns: (hint) => this.#isNews(hint) || (this.#included.includes('route') && concernsRoute(hint)),
      merge: withRun,
      carries: 'runs',
      refs: () => [`${ref.namespace}/${ref.name}`],
    });
    this.year = new Resource((signal) => getSeries(ref, 365, signal), this.#ofRuns);
  }

  readonly range: RangeDays = $derived(wordIn(router.query, 'days', ranges, '30'));
  readonly part: CronJobPart = $derived(wordIn(router.query, 'part', cronJobParts, 'now'));
  /** As the address has it: it goes along from part to part. */
  readonly chosenDays: string | undefined = $derived(this.range === '30' ? undefined : this.range);
  readonly statuses = $derived(wordsIn(router.query, 'status', executionStatuses));
  readonly triggers = $derived(wordsIn(router.query, 'trigger', executionTriggers));
  readonly offset: number = $derived(countIn(router.query, 'offset', 0));

  /** Ranges that history can fill: those up to the usual one always, beyond it only where there is more. */
  readonly offeredRanges: readonly RangeDays[] = $derived.by(() => {
    const from = this.detail.value?.historyFrom ?? null;
    const keptDays = from === null ? 0 : (now.ms - msOf(from)) / dayMs;
    return ranges.filter((days) => Number(days) <= 30 || keptDays > 30);
  });

  /**
   * Whether a change may show in what a carried run does not bring: advice, risks, targets and the route, which a success leaves as they are
   * but for risks that are counted from runs; or the carried run could not be taken over.
   */
  #isNews(hint: Hint): boolean {
    if (hint.kind === 'run') return isOf(hint.data.cronjob, this.ref);
    if (!this.#concerns(hint)) return false;
    const shown = this.detail.value;
    const isCounted = shown?.tonight?.risks.some(({ code }) => countedRisks.has(code));
    if (hint.kind === 'execution') return hint.data.status !== 'success' || isCounted === true;
    if (hint.kind !== 'cronjob' || !shown) return true;
    const { state, suspended, deleted } = hint.data;
    const isSame = suspended === shown.suspended && deleted === (shown.deletedAt !== null);
    return !isSame || state !== shown.verdict.state;
  }

  /** What is asked for with the detail: the pieces that are shown, unless the page asks for other ones of their kind. */
  readonly #included: readonly CronJobInclude[] = $derived.by(() => {
    const isOfRuns = this.part === 'runs';
    return [
      ...(isOfRuns && this.#isUsualPage ? (['runs'] as const) : []),
      ...(isOfRuns && this.range === '30' && !isGroupName(this.ref.name) ? (['slots'] as const) : []),
      ...(this.#isUsualRoute ? (['route'] as const) : []),
      ...ofRail,
    ];
  });
  #asked = '';

  async #askDetail(signal: AbortSignal): Promise<Answer<CronJobDetail>> {
    const include = this.#included;
    const answer = await getCronJob(this.ref, { recent: stripLength, include, zone: viewer.timeZone }, signal);
    // An answer that is the one before of its kind is news after one of another kind.
    const isOfOtherKind = include.join() !== this.#asked;
    this.#asked = include.join();
    return { ...answer, changed: answer.changed || isOfOtherKind };
  }

  /** A part that comes into sight may show what the detail did not bring along. Fit for an effect. */
  completeDetail(): void {
    const detail = this.detail.value;
    const isComplete = this.#included.every((piece) => detail?.[piece] !== undefined);
    if (detail && !isComplete) untrack(() => void this.detail.refresh());
  }

  /** What the tracer follows. */
  readonly heardType: AlertType = $derived(wordIn(router.query, 'hears', alertTypes, 'jobFailed'));
  /** The instant that it is asked about; undefined: now. An hour that has passed is now. */
  readonly heardAt: string | undefined = $derived.by(() => {
    const at = router.query.get('at') ?? undefined;
    return at !== undefined && msOf(at) > now.ms ? at : undefined;
  });

  /** Who hears of it. */
  readonly route: Shown<CronJobRoutes> = $derived.by(() => {
    // Of one that no monitor selects the endpoint of the route says so itself.
    if (this.#isUsualRoute && this.#hasRoute) return pieceOf(this.detail, ({ route }) => route ?? undefined);
    const question = { type: this.heardType, at: this.heardAt };
    return new Resource((signal) => getRoute(this.ref, question, signal), {
      concerns: (hint) => this.#concerns(hint) || concernsRoute(hint),
    });
  });

  readonly #isUsualRoute: boolean = $derived.by(() => this.heardType === 'jobFailed' && this.heardAt === undefined);
  readonly #hasRoute: boolean = $derived.by(() => this.detail.value?.route !== null);

  askRoute(changes: { readonly hears?: AlertType | undefined } | { readonly at?: string | undefined }): void {
    router.setQuery(changes);
  }

  /** A page of the table of runs. */
  readonly runs: Shown<ExecutionPage> = $derived.by(() => {
    if (this.#isUsualPage) return pieceOf(this.detail, ({ runs }) => runs);
    const { statuses, triggers, offset } = this;
    const since = sinceOf(this.range);
    return new Resource(
      (signal) =>
        listExecutions(this.ref, { status: statuses, trigger: triggers, since, limit: runsPerPage, offset }, signal),
      { concerns: this.#concerns },
    );
  });

  readonly #isUsualPage: boolean = $derived.by(
    () => this.range === '30' && this.offset === 0 && this.statuses.length + this.triggers.length === 0,
  );

  /** All runs of the table, for a file. */
  readonly exported: Query = $derived({
    status: this.statuses,
    trigger: this.triggers,
    since: sinceOf(this.range),
  });

  /** Every run of the range, for the chart. */
  readonly chart: Resource<ChartRuns> = $derived.by(() => {
    const days = this.range;
    return new Resource((signal) => readChartRuns(this.ref, days, signal), this.#ofRuns);
  });

  /** Figures by UTC day. */
  readonly series: Resource<Series> = $derived.by(() => {
    const days = Number(this.range);
    return new Resource((signal) => getSeries(this.ref, days, signal), this.#ofRuns);
  });

  /** The same as far back as it is kept, a year at most. */
  readonly year: Resource<Series>;

  /** Expected runs of the range that no run answered. */
  readonly unmet: Shown<SlotPage> = $derived.by(() => {
    const days = this.range;
    if (days === '30') return pieceOf(this.detail, ({ slots }) => slots);
    return new Resource((signal) => listUnmetSlots(this.ref, sinceOf(days), signal), { concerns: this.#concerns });
  });

  /** The rules it is judged by: those of the monitor that leads. */
  readonly monitor: Resource<MonitorDetail> | undefined = $derived.by(() => {
    const monitor = this.#monitorName;
    if (monitor === undefined) return undefined;
    const [namespace = '', name = ''] = monitor.split('/');
    return new Resource((signal) => getMonitor({ namespace, name }, signal), {
      concerns: ({ kind }) => kind === 'monitor',
    });
  });

  // As text: another answer with the same monitor asks nothing anew.
  readonly #monitorName: string | undefined = $derived.by(() => {
    const monitor = this.detail.value?.monitorRef;
    return monitor ? `${monitor.namespace}/${monitor.name}` : undefined;
  });

  setRange(days: string): void {
    router.setQuery({ days: days === '30' ? undefined : days, offset: undefined });
  }

  setFilters(filters: { readonly status?: readonly string[]; readonly trigger?: readonly string[] }): void {
    router.setQuery({
      ...(filters.status ? { status: filters.status.join(',') } : {}),
      ...(filters.trigger ? { trigger: filters.trigger.join(',') } : {}),
      offset: undefined,
    });
  }

  moveTo(offset: number): void {
    router.setQuery({ offset: offset === 0 ? undefined : String(offset) });
  }
}

/** What the monitor that leads asks of it. */
export function targetOf({ targets, monitorRef }: CronJobDetail, subject: SlaSubject): SlaTarget | undefined {
  return targets?.find(
    ({ monitor, subject: is }) =>
      is === subject && monitor.namespace === monitorRef?.namespace && monitor.name === monitorRef.name,
  );
}

/** Marks of the chart: runs that took a known time. */
export function pointsOf(runs: readonly Execution[]): DurationPoint[] {
  return runs.flatMap(({ startTime, createdAt, durationSeconds, status, trigger }) =>
    durationSeconds === null || (status !== 'success' && status !== 'failed')
      ? []
      : [
          {
            at: msOf(startTime ?? createdAt),
            seconds: durationSeconds,
            isFailed: status === 'failed',
            counts: trigger === 'scheduled',
          },
        ],
  );
}

/** A page with what the stream carries of its CronJob. Undefined: that is about another one. */
export function withRun(detail: CronJobDetail, hint: Hint): CronJobDetail | undefined {
  if (hint.kind !== 'run' || !isOf(hint.data.cronjob, detail)) return undefined;
  const { cronjob, ended } = hint.data;
  if (Number(cronjob.verdict.revision) < Number(detail.verdict.revision)) return detail;
  const isNew = ({ id }: Execution): boolean => !detail.runs?.items.some((run) => run.id === id);
  const more = ended.filter(isNew).length;
  const { runs } = detail;
  return {
    ...detail,
    ...cronjob,
    recentRuns: withNewest(detail.recentRuns ?? [], cronjob.recentRuns ?? []),
    executions: withEnded(detail.executions, ended, detailRuns),
    ...(runs && {
      runs: {
        items: withEnded(runs.items, ended, runs.pagination.limit),
        pagination: withMore(runs.pagination, more),
      },
    }),
  };
}

/** Newest first, and no more than a page has. */
function withEnded(runs: readonly Execution[], ended: readonly Execution[], most: number): readonly Execution[] {
  const ids = new Set(ended.map(({ id }) => id));
  return [...ended, ...runs.filter(({ id }) => !ids.has(id))]
    .toSorted((a, b) => msOf(b.createdAt) - msOf(a.createdAt))
    .slice(0, most);
}

function withMore({ total, limit, offset }: Pagination, more: number): Pagination {
  return { total: total + more, limit, offset, hasMore: offset + limit < total + more };
}

/** Oldest first: the newest as they are told, after those that are older than all of them. */
function withNewest(before: readonly RecentRun[], newest: readonly RecentRun[]): readonly RecentRun[] {
  const [first] = newest;
  if (!first) return before;
  return [...before.filter(({ at }) => msOf(at) < msOf(first.at)), ...newest].slice(-stripLength);
}

function isOf(one: Ref, { namespace, name }: Ref): boolean {
  return one.namespace === namespace && one.name === name;
}

/** Of risks: counted from the runs, so that a success may end one. */
const countedRisks: ReadonlySet<string> = new Set(['repeats', 'rate', 'limit', 'overlap']);

function concernsRoute({ kind }: Hint): boolean {
  return kind === 'monitor' || kind === 'silence' || kind === 'channel';
}

/** A change that may show on the page of a CronJob or of one of its runs. */
export function concernsCronJob(hint: Hint, { namespace, name }: Ref): boolean {
  switch (hint.kind) {
    case 'cronjob':
      return hint.data.namespace === namespace && hint.data.name === name;
    case 'execution':
      return hint.data.namespace === namespace && hint.data.cronJobName === name;
    case 'alert':
      return hint.data.cronjob.namespace === namespace && hint.data.cronjob.name === name;
    default:
      return false;
  }
}

/** The begin of a range, cut to the hour: the same question for an hour, so that an unchanged answer need not be sent. */
function sinceOf(days: RangeDays): string {
  return new Date(Math.floor(now.preciseMs / hourMs) * hourMs - Number(days) * dayMs).toISOString();
}

async function readChartRuns(ref: Ref, days: RangeDays, signal: AbortSignal): Promise<Answer<ChartRuns>> {
  const since = sinceOf(days);
  const runs: Execution[] = [];
  let changed = false;
  for (;;) {
    // Serial: how many pages there are is known from the one before.
    const answer = await listExecutions(ref, { since, limit: chartPage, offset: runs.length }, signal);
    changed ||= answer.changed;
    runs.push(...answer.value.items);
    const isCut = answer.value.pagination.hasMore && runs.length >= mostChartRuns;
    if (answer.value.pagination.hasMore && !isCut) continue;
    // The axis is the range that was asked for, as that of the days below it, unless older runs are left out.
    const fromMs = msOf(isCut ? (runs.at(-1)?.createdAt ?? since) : since);
    return { ...answer, changed, value: { runs: runs.reverse(), isCut, fromMs, untilMs: now.preciseMs } };
  }
}
