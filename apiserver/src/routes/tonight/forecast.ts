import type { Tonight, TonightItem, TonightSpan } from '@cronjob-monitor/shared/contract';
import {
  columnsOf,
  countStarts,
  floorTo,
  heardWords,
  isTexture,
  planRuns,
  type Heard,
  type Instant,
  type PlannedRuns,
} from '@cronjob-monitor/shared/domain';
import { scoreForecasts, type CronJobOutline, type EndedRuns, type Foreseen } from '@cronjob-monitor/shared/store';
import { toSecondsOrNull, toWireInstant } from '../../wire-values.ts';
import type { RouteDeps } from '../deps.ts';
import { findOutlines } from '../find-outlines.ts';
import { judgeRuns } from './judge.ts';

interface TonightAsked {
  readonly from: Instant;
  readonly until: Instant;
  readonly span: TonightSpan;
  readonly namespaces: readonly string[];
  readonly limit: number;
}

const mostInstants = 100;
/** Nights of so many days are scored. */
const scoredMs = 30 * 86_400_000;

/** The risks of the runs of the fleet until an instant. */
export async function readTonight(deps: RouteDeps, asked: TonightAsked): Promise<Tonight> {
  const { settings, store } = deps;
  const outlines = await findOutlines(deps, { namespaces: asked.namespaces });
  const plan = planRuns(outlines, asked, settings.defaultTimeZone);
  const judged = await judgeRuns(deps, plan, asked.from);
  const items = await present(deps.ended, judged.toSorted(byUrgency).slice(0, asked.limit));
  const running = plan.filter(({ slots, cronJob }) => slots.length > 0 && !cronJob.suspended);
  const atRisk = new Set(judged.map(({ planned }) => planned));
  return {
    from: toWireInstant(asked.from),
    until: toWireInstant(asked.until),
    span: asked.span,
    cronjobs: running.length,
    runs: running.reduce((sum, { slots }) => sum + slots.length, 0),
    atRisk: judged.length,
    starts: starts(running, asked),
    items,
    calm: running.filter((planned) => !atRisk.has(planned)).length,
    score: await scoreForecasts(store, asked.from - scoredMs, asked.namespaces),
  };
}

function byUrgency(a: Foreseen, b: Foreseen): number {
  const rank = ({ risks }: Foreseen): number => (risks[0]?.level === 'likely' ? 0 : 1);
  const firstAt = ({ planned }: Foreseen): Instant => planned.slots[0] ?? Number.MAX_SAFE_INTEGER;
  return rank(a) - rank(b) || firstAt(a) - firstAt(b); // else by namespace and name, as outlines come
}

async function present(ended: EndedRuns, judged: readonly Foreseen[]): Promise<TonightItem[]> {
  const durations = await ended.durations(judged.map(({ planned }) => planned.cronJob.id));
  return judged.map(({ planned: { cronJob, slots }, facts, risks }) => ({
    cronjob: { namespace: cronJob.namespace, name: cronJob.name },
    at: slots.slice(0, mostInstants).map(toWireInstant),
    runs: slots.length,
    expectedSeconds: toSecondsOrNull(durations.get(cronJob.id)?.p50Ms),
    p95Seconds: toSecondsOrNull(durations.get(cronJob.id)?.p95Ms),
    risks,
    told: presentHeard(facts.heard),
  }));
}

function presentHeard(heard: Heard): TonightItem['told'] {
  return { state: heard.state, channels: heard.channels, words: heardWords(heard) };
}

const quarterMs = 15 * 60_000;

/** Starts in each quarter of an hour; what comes more often than that would hide them. */
function starts(running: readonly PlannedRuns<CronJobOutline>[], { from, until }: TonightAsked): Tonight['starts'] {
  const span = { from: floorTo(quarterMs, from), until, stepMs: quarterMs };
  const counts = countStarts(
    span,
    running.flatMap(({ slots, shortestGapMs }) => (isTexture(shortestGapMs, quarterMs) ? [] : [slots])),
  );
  return columnsOf(span).map((at, column) => ({ at: toWireInstant(at), runs: counts[column] ?? 0 }));
}
