import { Slot, slotOutcomes, SlotPage, slotSortKeys } from '@cronjob-monitor/shared/contract';
import { dayMs, type Instant } from '@cronjob-monitor/shared/domain';
import {
  type CatalogCronJob,
  countSlots,
  type KnownSlot,
  listSlots,
  type SlotFilter,
  type Store,
} from '@cronjob-monitor/shared/store';
import { parse } from '@cronjob-monitor/shared/domain/schedule';
import { getKnownCronJob, type KnownCronJob, readLateAfterMs } from '../known-cron-job.ts';
import { exportsAreWhole, pageOf, type PageRequest, toPagination } from '../../middleware/pagination.ts';
import type { Values } from '../../middleware/validate.ts';
import { orNull, toSeconds, toSecondsOrNull, toWireInstant, toWireInstantOrNull } from '../../wire-values.ts';
import { cutToMinute, readWindow } from '../../windows.ts';
import type { RouteDeps } from '../deps.ts';
import { route } from '../route.ts';
import { answerExport, columnsOf, exportable, exportFormat } from '../export/answer.ts';
import { instant, paging, sort, words } from '../../middleware/parameters.ts';

const slotsQuery = {
  since: instant('Inclusive; without it 7 days ago.'),
  until: instant('Exclusive; without it now.'),
  outcome: words('What became of expected runs.', slotOutcomes),
  sort: sort(slotSortKeys, { key: 'scheduledFor', descending: true }),
  ...paging,
  format: exportFormat,
};

const defaultWindowMs = 7 * dayMs;
const defaultLimit = 100;

/** GET …/slots: the ledger of expected runs. */
export const slotsRoutes = [
  route(
    {
      method: 'GET',
      path: '/cronjobs/:namespace/:name/slots',
      tag: 'Runs',
      id: 'listSlots',
      says: 'Expected runs and what became of each',
      ability: 'read',
      ...exportable,
      query: slotsQuery,
      rules: [exportsAreWhole],
      answer: SlotPage,
    },
    async ({ deps, ctx, query }) => {
      const minute = cutToMinute(deps.clock.now());
      const standard = { since: minute - defaultWindowMs, until: minute + 60_000 };
      const { since, until = standard.until } = readWindow(query, standard);
      const known = await getKnownCronJob(deps.store, ctx.params);
      const lateAfterMs = await readLateAfterMs(deps.store);
      const filter = { cronJobIds: known.ids, since, until, outcomes: query.outcome, lateAfterMs };
      if (query.format) {
        const due = await readDueSlots(deps, known, filter);
        const batches = exportSlots(deps.store, filter, due, query.sort.descending);
        return answerExport(deps, ctx, query.format, { name: 'slots', columns: columnsOf(Slot), batches });
      }
      return readSlotPage(deps, known, filter, query);
    },
  ),
];

const unmetOutcomes = ['missed', 'skippedForbid', 'skippedDeadline', 'unobserved', 'indeterminate'] as const;

/** The newest expected runs of 30 days that no run answered. */
export async function readUnmetSlots(deps: RouteDeps, known: KnownCronJob): Promise<SlotPage> {
  const until = cutToMinute(deps.clock.now()) + 60_000;
  const lateAfterMs = await readLateAfterMs(deps.store);
  const filter = { cronJobIds: known.ids, since: until - 30 * dayMs, until, outcomes: unmetOutcomes, lateAfterMs };
  return readSlotPage(deps, known, filter, { sort: { key: 'scheduledFor', descending: true }, limit: 20, offset: 0 });
}

/** What is due and not judged yet, newest first. */
async function readDueSlots(
  { store, clock, settings }: RouteDeps,
  { cronJob }: KnownCronJob,
  filter: SlotFilter,
): Promise<readonly Instant[]> {
  if (filter.outcomes.length > 0) return [];
  const newestPage = { limit: 1, offset: 0 };
  const [newest] = await listSlots(store, filter, { descending: true, page: newestPage });
  const window = { since: filter.since, until: filter.until, now: clock.now() };
  return listDueSlots(cronJob, window, newest?.at, settings.defaultTimeZone);
}

/** What is due and not judged yet is newer than everything known: it stands before it, or behind it when times rise. */
async function readSlotPage(
  deps: RouteDeps,
  cronJob: KnownCronJob,
  filter: SlotFilter,
  query: Pick<Values<typeof slotsQuery>, 'sort' | 'limit' | 'offset'>,
): Promise<SlotPage> {
  const page = pageOf(query, defaultLimit);
  const { descending } = query.sort;
  const [summary, due] = await Promise.all([countSlots(deps.store, filter), readDueSlots(deps, cronJob, filter)]);
  const known = (filter.outcomes.length === 0 ? Object.keys(summary) : filter.outcomes) as (keyof typeof summary)[];
  const knownTotal = known.reduce((sum, outcome) => sum + summary[outcome], 0);

  const shares = split(page, descending ? due.length : knownTotal);
  const duePage = descending ? shares.first : shares.second;
  const knownPage = descending ? shares.second : shares.first;
  const dueInOrder = descending ? due : due.toReversed();
  const dueItems = dueInOrder.slice(duePage.offset, duePage.offset + duePage.limit).map(presentDue);
  const knownItems =
    knownPage.limit === 0
      ? []
      : (await listSlots(deps.store, filter, { descending, page: knownPage })).map(presentSlot);
  return {
    items: descending ? [...dueItems, ...knownItems] : [...knownItems, ...dueItems],
    evaluatedThrough: toWireInstantOrNull(cronJob.cronJob.evaluatedThroughAt),
    summary,
    pagination: toPagination(page, due.length + knownTotal),
  };
}

/** The parts of a page that two lists fill which follow one another. */
function split(page: PageRequest, firstLength: number): { readonly first: PageRequest; readonly second: PageRequest } {
  const fromFirst = Math.max(0, Math.min(page.limit, firstLength - page.offset));
  return {
    first: { offset: page.offset, limit: fromFirst },
    second: { offset: Math.max(0, page.offset - firstLength), limit: page.limit - fromFirst },
  };
}

/** Slots of one batch; a schedule has one a minute at most, so that as many never share an instant. */
const batchSize = 500;
/** A span that gives less than this is followed by one twice as long. */
const fewSlots = batchSize / 2;

/** All slots of a filter, in order, with those due and not judged at the newer end. */
async function* exportSlots(
  store: Store,
  filter: SlotFilter,
  due: readonly Instant[],
  descending: boolean,
): AsyncGenerator<readonly Slot[], void, undefined> {
  const waiting = descending ? due : due.toReversed();
  if (descending) yield waiting.map(presentDue);
  for await (const batch of readKnown(store, filter, descending)) yield batch.map(presentSlot);
  if (!descending) yield waiting.map(presentDue);
}

/** From one end of the window to the other, span by span: what is written meanwhile moves nothing. */
async function* readKnown(store: Store, filter: SlotFilter, descending: boolean): AsyncGenerator<readonly KnownSlot[]> {
  let { since, until } = filter;
  let spanMs = dayMs;
  while (since < until) {
    const span = descending
      ? { since: Math.max(since, until - spanMs), until }
      : { since, until: Math.min(until, since + spanMs) };
    const found = await listSlots(store, { ...filter, ...span }, { descending, page: { limit: batchSize, offset: 0 } });
    const last = found.at(-1);
    const whole = last && found.length === batchSize ? found.filter(({ at }) => at !== last.at) : [];
    if (last && whole.length > 0) {
      // Others may be due at the same instant as the last one: it is read again with them.
      yield whole;
      if (descending) until = last.at + 1;
      else since = last.at;
      continue;
    }
    yield found;
    if (descending) until = span.since;
    else since = span.until;
    if (found.length < fewSlots) spanMs *= 2;
  }
}

/** More are not listed one by one: the leader has not judged them for a long time. */
const mostDue = 500;

/**
 * Expected runs that are due and that the leader has not judged yet: those after the last one that a run answered or a
 * verdict settled. Newest first. A suspended, deleted or unreadable CronJob has none.
 */
function listDueSlots(
  cronJob: CatalogCronJob,
  window: { readonly since: Instant; readonly until: Instant; readonly now: Instant },
  lastKnownAt: Instant | undefined,
  defaultTimeZone: string,
): Instant[] {
  if (cronJob.suspended || cronJob.problem !== undefined || cronJob.deletedAt !== undefined) return [];
  const settled = Math.max(lastKnownAt ?? 0, (cronJob.evaluatedThroughAt ?? 1) - 1, cronJob.createdAt);
  const from = Math.max(settled, window.since - 1);
  const to = Math.min(window.until - 1, window.now);
  if (from >= to) return [];
  try {
    const schedule = parse(cronJob.schedule);
    // Intervals count from their last run: between two of them nothing but that run says where.
    const start = schedule.kind === 'every' ? Math.max(settled, cronJob.everyAnchorAt ?? settled) : from;
    const due = schedule.between(start, to, cronJob.timeZone ?? defaultTimeZone, mostDue);
    return due.filter((at) => at > from).reverse();
  } catch {
    return []; // a schedule that cannot be read expects nothing; the CronJob tells its problem
  }
}

function presentSlot(slot: KnownSlot): Slot {
  return {
    scheduledFor: toWireInstant(slot.at),
    outcome: slot.outcome,
    cause: orNull(slot.cause),
    message: orNull(slot.message),
    inMaintenance: slot.inMaintenance,
    jobName: orNull(slot.jobName),
    executionStatus: orNull(slot.status),
    startedAt: toWireInstantOrNull(slot.startedAt),
    durationSeconds: toSecondsOrNull(slot.durationMs),
    delaySeconds: slot.createdAt === undefined ? null : Math.max(0, toSeconds(slot.createdAt - slot.at)),
  };
}

/** An expected run that is due and not judged yet. */
function presentDue(at: Instant): Slot {
  return {
    scheduledFor: toWireInstant(at),
    outcome: null,
    cause: null,
    message: null,
    inMaintenance: false,
    jobName: null,
    executionStatus: null,
    startedAt: null,
    durationSeconds: null,
    delaySeconds: null,
  };
}
