import type { Tonight, TonightItem, TonightSpan } from '@cronjob-monitor/shared/contract';
import {
  CoverageJudge,
  heardWords,
  risksOf,
  type ForecastFacts,
  type Heard,
  type Instant,
} from '@cronjob-monitor/shared/domain';
import { listChannelHolds } from '@cronjob-monitor/shared/store';
import { toSecondsOrNull, toWireInstant } from '../../wire-values.ts';
import type { RouteDeps } from '../deps.ts';
import { findOutlines } from '../find-outlines.ts';
import type { EndedRuns } from './ended-runs.ts';
import { planRuns, type PlannedRuns } from './plan.ts';
import { gatherKnown, readLimits } from './known.ts';

export interface TonightAsked {
  readonly from: Instant;
  readonly until: Instant;
  readonly span: TonightSpan;
  readonly namespaces: readonly string[];
  readonly limit: number;
}

/** A channel that accepted nothing for so long is not proved. */
const provedDays = 30;
const dayMs = 86_400_000;
const mostInstants = 100;

interface Judged {
  readonly planned: PlannedRuns;
  readonly facts: ForecastFacts;
  readonly risks: TonightItem['risks'];
}

/**
 * Judges all runs of the fleet until an instant. Schedules, rates and coverage of all CronJobs come from what is kept, and from a handful of
 * statements; rows, runs and durations are read of those alone that may have a risk by them.
 */
export async function readTonight(
  deps: RouteDeps & { readonly ended: EndedRuns },
  asked: TonightAsked,
): Promise<Tonight> {
  const { store, settings, ended } = deps;
  const outlines = await findOutlines(deps, { namespaces: asked.namespaces });
  const plan = planRuns(outlines, asked, settings.defaultTimeZone);
  const due = plan.filter(({ slots, cronJob, clockChange }) => slots.length > 0 || cronJob.problem || clockChange);
  const ids = due.map(({ cronJob }) => cronJob.id);
  const [figures, limits, longest, channels, rules] = await Promise.all([
    deps.fleet.figures(ids, { withPrevious: false }),
    readLimits(store),
    ended.longestMs(ids),
    listChannelHolds(store),
    deps.actions.readRouteRules(),
  ]);
  const judge = new CoverageJudge(['jobFailed'], {
    channels: new Map(channels.map((channel) => [channel.name, channel])),
    acceptedSinceAt: asked.from - provedDays * dayMs,
  });
  const known = await gatherKnown(deps, due, {
    ended,
    limits,
    longestOf: ({ id, lastDurationMs = 0 }) => Math.max(longest.get(id) ?? 0, lastDurationMs),
    monitorsOf: (id) => (figures.get(id)?.monitors ?? []).map(({ monitorId }) => monitorId),
  });
  const judged: Judged[] = [];
  for (const planned of due) {
    const { id } = planned.cronJob;
    const { monitors = [], current } = figures.get(id) ?? {};
    const coverage = judge.judge(monitors.flatMap(({ monitorId }) => rules(monitorId, id) ?? []));
    const [type] = coverage.types;
    const facts: ForecastFacts = {
      ...known(planned),
      slots: planned.slots,
      afterAt: planned.afterAt,
      suspended: planned.cronJob.suspended,
      clockChange: planned.clockChange,
      rate: { failed: current?.failed ?? 0, runs: (current?.success ?? 0) + (current?.failed ?? 0) },
      heard: { state: coverage.state, reason: type?.reason, channels: type?.channels ?? [] },
    };
    const risks = risksOf(facts);
    if (risks.length > 0) judged.push({ planned, facts, risks });
  }
  const items = await present(ended, judged.toSorted(byUrgency).slice(0, asked.limit));
  const running = plan.filter(({ slots, cronJob }) => slots.length > 0 && !cronJob.suspended);
  const atRisk = new Set(judged.map(({ planned }) => planned));
  return {
    from: toWireInstant(asked.from),
    until: toWireInstant(asked.until),
    span: asked.span,
    cronjobs: running.length,
    runs: running.reduce((sum, { slots }) => sum + slots.length, 0),
    atRisk: judged.length,
    starts: countStarts(running, asked),
    items,
    calm: running.filter((planned) => !atRisk.has(planned)).length,
  };
}

function byUrgency(a: Judged, b: Judged): number {
  const rank = ({ risks }: Judged): number => (risks[0]?.level === 'likely' ? 0 : 1);
  const firstAt = ({ planned }: Judged): Instant => planned.slots[0] ?? Number.MAX_SAFE_INTEGER;
  return rank(a) - rank(b) || firstAt(a) - firstAt(b); // else by namespace and name, as outlines come
}

async function present(ended: EndedRuns, judged: readonly Judged[]): Promise<TonightItem[]> {
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
function countStarts(running: readonly PlannedRuns[], { from, until }: TonightAsked): Tonight['starts'] {
  const firstAt = Math.floor(from / quarterMs) * quarterMs;
  const counts = Array.from({ length: Math.ceil((until - firstAt) / quarterMs) }, () => 0);
  const sharing = new Map<readonly Instant[], number>();
  for (const { slots, shortestGapMs } of running)
    if (shortestGapMs >= quarterMs) sharing.set(slots, (sharing.get(slots) ?? 0) + 1);
  for (const [slots, cronJobs] of sharing) {
    for (const at of slots) {
      const index = Math.floor((at - firstAt) / quarterMs);
      counts[index] = (counts[index] ?? 0) + cronJobs;
    }
  }
  return counts.map((runs, index) => ({ at: toWireInstant(firstAt + index * quarterMs), runs }));
}
