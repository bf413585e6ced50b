import { CoverageJudge, type Instant, type PlannedRuns, dayMs } from '@cronjob-monitor/shared/domain';
import {
  foreseeRuns,
  listChannelHolds,
  type CronJobOutline,
  type Foreseen,
  type HeardOf,
} from '@cronjob-monitor/shared/store';
import type { RouteDeps } from '../deps.ts';
import { explainNamed } from '../verdicts/explain-run.ts';

/** A channel that accepted nothing for so long is not proved. */
const provedDays = 30;

/** Judges these runs to come, in words and with who would hear of a failure; those without a risk are left out. */
export async function judgeRuns(
  deps: RouteDeps,
  plan: readonly PlannedRuns<CronJobOutline>[],
  now: Instant,
): Promise<Foreseen[]> {
  const { store, ended, settings } = deps;
  const sources = {
    ended,
    defaultTimeZone: settings.defaultTimeZone,
    explain: async (runs: Parameters<typeof explainNamed>[1]) => {
      const explained = await explainNamed(store, runs);
      return (run: (typeof runs)[number]) => explained(run)?.cause;
    },
  };
  return foreseeRuns(store, plan, sources, (ids) => readHeard(deps, ids, now));
}

async function readHeard(
  { store, actions }: RouteDeps,
  cronJobIds: readonly number[] | undefined,
  now: Instant,
): Promise<HeardOf> {
  const [channels, rules] = await Promise.all([listChannelHolds(store), actions.readRouteRules(cronJobIds)]);
  const judge = new CoverageJudge(['jobFailed'], {
    channels: new Map(channels.map((channel) => [channel.name, channel])),
    acceptedSinceAt: now - provedDays * dayMs,
  });
  return (cronJobId, monitorIds) => {
    const coverage = judge.judge(monitorIds.flatMap((id) => rules(id, cronJobId) ?? []));
    const [type] = coverage.types;
    return { state: coverage.state, reason: type?.reason, channels: type?.channels ?? [] };
  };
}
