import type { Health, HealthStatus, StorageState } from '@cronjob-monitor/shared/contract';
import { formatDuration, type Instant } from '@cronjob-monitor/shared/domain';
import type { Heartbeat } from '@cronjob-monitor/shared/store';
import type { ProcessFacts } from '../../process-facts.ts';
import type { ApiSettings } from '../../settings.ts';
import { toWireInstant, toWireInstantOrNull } from '../../wire-values.ts';

/** A watch that heard nothing for so long may have missed something. */
const maxWatchAgeMs = 120_000;
/** An evaluation is late after so many of its intervals. */
const lateIntervals = 3;

export interface HealthFacts {
  readonly storage: StorageState;
  readonly schemaVersion: number | undefined;
  /** The live leader's newest beat; undefined when nobody leads. */
  readonly leader: Heartbeat | undefined;
  /** When its term began; undefined when that is not known. */
  readonly leadsSinceAt: Instant | undefined;
  readonly now: Instant;
}

/** Health as the API tells it: what the leader says of itself, and what is wrong, a sentence each. */
export function presentHealth(facts: HealthFacts, settings: ApiSettings, process: ProcessFacts): Health {
  const connected = facts.storage === 'connected';
  const leader = connected ? facts.leader : undefined;
  const problems = connected ? problemsOf(facts, settings) : [storageProblem(facts.storage)];
  return {
    status: statusOf(connected, problems),
    storage: facts.storage,
    leader: leader !== undefined,
    version: process.version,
    uptime: formatDuration(Math.floor(process.uptimeMs() / 1000) * 1000),
    analyzerEnabled: leader?.evaluatedAt !== undefined,
    schedulersRunning: leader?.schedulers ?? [],
    problems,
    lastEvaluation: toWireInstantOrNull(leader?.evaluatedAt),
    schemaVersion: connected ? (facts.schemaVersion ?? null) : null,
    cluster: settings.clusterName ?? null,
    defaultTimeZone: settings.defaultTimeZone,
    timeZoneData: process.timeZoneData,
    controller: leader
      ? {
          name: leader.holder.replace(/_[^_]*$/, ''), // the pod, without what tells its restarts apart
          version: leader.version,
          epoch: leader.epoch ?? 0,
          since: toWireInstant(sinceOf(leader, facts)),
        }
      : null,
  };
}

function statusOf(connected: boolean, problems: readonly string[]): HealthStatus {
  if (!connected) return 'unhealthy';
  return problems.length === 0 ? 'healthy' : 'degraded';
}

function storageProblem(storage: StorageState): string {
  return storage === 'migrating'
    ? 'The schema of the database is not one this version serves'
    : 'The database does not answer';
}

function sinceOf(leader: Heartbeat, { leadsSinceAt }: HealthFacts): Instant {
  return leadsSinceAt ?? leader.startedAt;
}

function problemsOf(facts: HealthFacts, settings: ApiSettings): string[] {
  const { leader, now } = facts;
  if (!leader) return ['No controller leads: nothing is recorded, evaluated or sent'];
  const problems: string[] = [];
  // A leader without this scheduler evaluates nothing, and nothing of it can be late.
  const evaluates = leader.schedulers.includes('dead-man-switch');
  const lastAt = leader.evaluatedAt ?? (evaluates ? sinceOf(leader, facts) : now);
  if (now - lastAt > lateIntervals * settings.deadManSwitchIntervalMs) {
    problems.push(`Nothing was evaluated since ${toWireInstant(lastAt)}`);
  }
  for (const [resource, ageMs] of Object.entries(watchAgesOf(leader))) {
    if (ageMs <= maxWatchAgeMs) continue;
    const age = formatDuration(Math.floor(ageMs / 1000) * 1000);
    problems.push(`Nothing was heard of ${resource} for ${age}`);
  }
  return [...problems, ...problemsToldBy(leader)];
}

/** Milliseconds since the last event or bookmark of each watch, as the leader measured them at its beat. */
function watchAgesOf({ figures }: Heartbeat): Readonly<Record<string, number>> {
  const ages = figures['watchAgeMs'];
  if (typeof ages !== 'object' || ages === null) return {};
  return Object.fromEntries(
    Object.entries(ages).filter((entry): entry is [string, number] => typeof entry[1] === 'number'),
  );
}

/** Sentences that the leader itself wrote, such as on clocks or the size of an SQLite fleet. */
function problemsToldBy({ figures }: Heartbeat): readonly string[] {
  const { problems } = figures;
  return Array.isArray(problems) ? problems.filter((problem) => typeof problem === 'string') : [];
}
