import type { SlaList } from '@cronjob-monitor/shared/contract';
import { exportsAreWhole, offsetNeedsLimit, pageOnWish, toPagination } from '../../middleware/pagination.ts';
import { readQuery } from '../../middleware/validate.ts';
import { createRouter, type ApiRouter, type RouteDeps } from '../deps.ts';
import { answerExport, exportable, inBatches } from '../export/answer.ts';
import { slaColumns } from '../export/columns.ts';
import { readSurroundings } from '../verdicts/surroundings.ts';
import { gatherPairs } from './gather.ts';
import { orderTargets } from './order.ts';
import { countVerdicts, presentTargets } from './present.ts';
import { slaQuery } from './query.ts';

/**
 * @openapi
 * /sla:
 *   get:
 *     tags: [CronJobs]
 *     operationId: listTargets
 *     summary: Every target of every monitor, for each CronJob
 *     x-ability: read
 *     x-query: [namespaces, monitor, search, slaSubjects, targetVerdicts, slaSort, limit, offset, export]
 *     x-answers: { 200: SlaList }
 */

/** Every target of every monitor, for each CronJob that it selects. */
export function slaRouter({ guard, store, clock, logger }: RouteDeps): ApiRouter {
  return createRouter().get('/sla', guard({ ability: 'read', ...exportable }), async (ctx) => {
    const query = readQuery(ctx, slaQuery, offsetNeedsLimit, exportsAreWhole);
    const surroundings = await readSurroundings({ store });
    const targets = (await gatherPairs(store, query, clock.now()))
      .flatMap((facts) => presentTargets(facts, surroundings))
      .filter(({ subject }) => query.subject.length === 0 || query.subject.includes(subject));
    const found = targets.filter(({ verdict }) => query.verdict.length === 0 || query.verdict.includes(verdict));
    const ordered = orderTargets(found, query.sort);
    if (query.format) {
      const batches = inBatches(ordered);
      await answerExport({ clock, logger }, ctx, query.format, { name: 'sla', columns: slaColumns, batches });
      return;
    }
    const page = pageOnWish(query);
    const body: SlaList = {
      items: page ? ordered.slice(page.offset, page.offset + page.limit) : ordered,
      summary: countVerdicts(targets),
      ...(page ? { pagination: toPagination(page, found.length) } : {}),
    };
    ctx.body = body;
  });
}
