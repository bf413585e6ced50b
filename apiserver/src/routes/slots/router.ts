import type { SlotPage } from '@cronjob-monitor/shared/contract';
import type { Instant } from '@cronjob-monitor/shared/domain';
import { countSlots, listSlots, type SlotFilter } from '@cronjob-monitor/shared/store';
import { readLateAfterMs } from '../late-after.ts';
import { exportsAreWhole, pageOf, toPagination, type PageRequest } from '../../middleware/pagination.ts';
import { readQuery, type Values } from '../../middleware/validate.ts';
import { toWireInstantOrNull } from '../../wire-values.ts';
import { cutToMinute, readWindow } from '../../windows.ts';
import { createRouter, type ApiRouter, type RouteDeps } from '../deps.ts';
import { getKnownCronJob, type KnownCronJob } from '../known-cron-job.ts';
import { answerExport, exportable } from '../export/answer.ts';
import { slotColumns } from '../export/columns.ts';
import { readInBatches } from './batches.ts';
import { listDueSlots } from './due.ts';
import { presentDue, presentSlot } from './present.ts';
import { defaultLimit, defaultWindowMs, slotsQuery } from './query.ts';

/**
 * @openapi
 * /cronjobs/{namespace}/{name}/slots:
 *   get:
 *     tags: [Runs]
 *     operationId: listSlots
 *     summary: Expected runs and what became of each
 *     x-ability: read
 *     x-query: [slotsSince, slotsUntil, slotOutcomes, slotSort, limit, offset, export]
 *     x-answers: { 200: SlotPage }
 *     x-refusals: [404]
 */

/** GET …/slots: the ledger of expected runs. */
export function slotsRouter(deps: RouteDeps): ApiRouter {
  return createRouter().get(
    '/cronjobs/:namespace/:name/slots',
    deps.guard({ ability: 'read', ...exportable }),
    async (ctx) => {
      const query = readQuery(ctx, slotsQuery, exportsAreWhole);
      const minute = cutToMinute(deps.clock.now());
      const standard = { since: minute - defaultWindowMs, until: minute + 60_000 };
      const { since, until = standard.until } = readWindow(query, standard);
      const known = await getKnownCronJob(deps.store, ctx.params);
      const lateAfterMs = await readLateAfterMs(deps.store);
      const filter = { cronJobIds: known.ids, since, until, outcomes: query.outcome, lateAfterMs };
      if (query.format) {
        const due = await readDueSlots(deps, known, filter);
        const batches = readInBatches(deps.store, filter, due, query.sort.descending);
        await answerExport(deps, ctx, query.format, { name: 'slots', columns: slotColumns, batches });
        return;
      }
      ctx.body = await readSlotPage(deps, known, filter, query);
    },
  );
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
  query: Values<typeof slotsQuery>,
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
