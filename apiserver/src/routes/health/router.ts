import { TimeLimitError, withinLimit } from '@cronjob-monitor/shared/process';
import { findLiveLeader, getLeader, listHeartbeats, StoreError, type Heartbeat } from '@cronjob-monitor/shared/store';
import { Health, type HealthStatus, type StorageState } from '@cronjob-monitor/shared/contract';
import {
  formatDuration,
  isSymptomCause,
  noLeader,
  symptomsOf,
  toldProblems,
  type Instant,
  type Problem,
} from '@cronjob-monitor/shared/domain';
import { route } from '../route.ts';
import type { ApiSettings } from '../../settings.ts';
import type { ProcessFacts } from '../../process-facts.ts';
import { toWireInstant, toWireInstantOrNull } from '../../wire-values.ts';
import type { RouteDeps } from '../deps.ts';

/** GET /health: 503 with the same body when unhealthy, never an error body. Open in every mode. */
export const healthRoutes = [
  route(
    {
      method: 'GET',
      path: '/health',
      tag: 'Overview',
      id: 'getHealth',
      says: 'How the service is; 503 with the same body when it cannot serve',
      answer: Health,
      statuses: [200, 503],
      noStore: true,
    },
    async ({ deps, ctx }) => {
      const health = presentHealth(await gatherHealth(deps), deps.settings, deps.process);
      ctx.status = health.status === 'unhealthy' ? 503 : 200;
      return health;
    },
  ),
];

/** So long may the database take: health answers in any case. */
const patienceMs = 2_000;

type Asked = Pick<RouteDeps, 'store' | 'clock' | 'settings' | 'databaseWatch' | 'problems'>;

/** What health is told from; a database that does not answer in time is unreachable. */
export async function gatherHealth(deps: Asked): Promise<HealthFacts> {
  return withinLimit({ clock: deps.clock, ms: patienceMs }, () => askDatabase(deps)).catch((error: unknown) => {
    if (error instanceof TimeLimitError) return unreachable(deps);
    throw error;
  });
}

async function askDatabase(deps: Asked): Promise<HealthFacts> {
  const { store, settings, databaseWatch } = deps;
  const { storage, schema } = await databaseWatch.look();
  if (storage === 'unreachable' || storage === 'migrating') return { ...unreachable(deps), storage };
  try {
    const [leader, term] = await Promise.all([findLiveLeader(store, store.now(), settings.leaseMs), getLeader(store)]);
    // Without a leader those who wait for the lead say why they do not take it.
    const waiting = leader ? [] : await listHeartbeats(store);
    const isSameTerm = leader?.epoch !== undefined && leader.epoch === term.epoch;
    return {
      storage,
      problems: deps.problems.current(),
      schemaVersion: schema?.version,
      leader,
      waiting: waiting.filter(({ beatAt }) => beatAt >= store.now() - settings.leaseMs),
      leadsSinceAt: isSameTerm ? term.sinceAt : undefined,
      now: store.now(),
    };
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    return unreachable(deps);
  }
}

function unreachable({ store, problems }: Asked): HealthFacts {
  return {
    storage: 'unreachable',
    problems: problems.current(),
    schemaVersion: undefined,
    leader: undefined,
    waiting: [],
    leadsSinceAt: undefined,
    now: store.now(),
  };
}

interface HealthFacts {
  readonly storage: StorageState;
  /** What this process itself knows to be wrong. */
  readonly problems: readonly Problem[];
  readonly schemaVersion: number | undefined;
  /** The live leader's newest beat; undefined when no controller leads. */
  readonly leader: Heartbeat | undefined;
  /** Without a leader: the newest beats of the live controllers that could. */
  readonly waiting: readonly Heartbeat[];
  /** When its term began; undefined when that is not known. */
  readonly leadsSinceAt: Instant | undefined;
  readonly now: Instant;
}

/** Health as the API tells it: what the leader says of itself, and what is wrong, a sentence each. */
export function presentHealth(facts: HealthFacts, settings: ApiSettings, process: ProcessFacts): Health {
  const readable = facts.storage === 'connected' || facts.storage === 'unwritable';
  const leader = readable ? facts.leader : undefined;
  const problems = toldProblems([
    ...facts.problems,
    ...(readable ? problemsOf(facts, settings) : [storageProblem(facts.storage)]),
  ]);
  return {
    status: statusOf(facts.storage, problems),
    storage: facts.storage,
    ready: facts.storage === 'connected' && !problems.some(({ blocks }) => blocks),
    leader: leader !== undefined,
    version: process.version,
    uptime: formatDuration(Math.floor(process.uptimeMs() / 1000) * 1000),
    analyzerEnabled: leader?.evaluatedAt !== undefined,
    schedulersRunning: leader?.schedulers ?? [],
    problems: problems.map(({ sentence }) => sentence),
    lastEvaluation: toWireInstantOrNull(leader?.evaluatedAt),
    schemaVersion: readable ? (facts.schemaVersion ?? null) : null,
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

function statusOf(storage: StorageState, problems: readonly Problem[]): HealthStatus {
  if (storage !== 'connected') return 'unhealthy';
  return problems.length === 0 ? 'healthy' : 'degraded';
}

/** Said where nothing that is known of this process says more; the keys are those of its list. */
function storageProblem(storage: StorageState): Problem {
  return storage === 'migrating'
    ? {
        key: 'schema',
        cause: 'schemaDiffers',
        sentence: 'The schema of the database is not one this version serves',
        blocks: true,
      }
    : { key: 'database', cause: 'databaseAway', sentence: 'The database does not answer', blocks: true };
}

function sinceOf(leader: Heartbeat, { leadsSinceAt }: HealthFacts): Instant {
  return leadsSinceAt ?? leader.startedAt;
}

function problemsOf(facts: HealthFacts, settings: ApiSettings): Problem[] {
  const { leader, now } = facts;
  if (!leader) {
    // No heartbeat can be written: whether a controller leads is not known.
    if (facts.storage === 'unwritable') return [];
    return [noLeader(true), ...facts.waiting.flatMap(problemsToldBy)];
  }
  // A leader without this scheduler evaluates nothing, and nothing of it can be late.
  const evaluates = leader.schedulers.includes('dead-man-switch');
  const lastAt = leader.evaluatedAt ?? (evaluates ? sinceOf(leader, facts) : now);
  const intervalMs = settings.deadManSwitchIntervalMs;
  const evaluation = { name: 'dead-man-switch', lastAt, ageMs: now - lastAt, intervalMs };
  return [...symptomsOf({ watchAgesMs: watchAgesOf(leader), schedulers: [evaluation] }), ...problemsToldBy(leader)];
}

/** Milliseconds since the last event or bookmark of each watch, as the leader measured them at its beat. */
function watchAgesOf({ figures }: Heartbeat): Readonly<Record<string, number>> {
  const ages = figures['watchAgeMs'];
  if (typeof ages !== 'object' || ages === null) return {};
  return Object.fromEntries(
    Object.entries(ages).filter((entry): entry is [string, number] => typeof entry[1] === 'number'),
  );
}

/**
 * What a controller itself said at its beat, such as on clocks or the cluster; not what it said of the schema, which this process has looked at
 * since. Releases before this one wrote sentences alone.
 */
function problemsToldBy({ figures }: Heartbeat): readonly Problem[] {
  const { problems } = figures;
  const told = Array.isArray(problems) ? problems.flatMap((one: unknown) => toProblem(one) ?? []) : [];
  return told.filter(({ cause }) => cause !== 'schemaDiffers');
}

function toProblem(told: unknown): Problem | undefined {
  if (typeof told === 'string') return { key: told, cause: undefined, sentence: told, blocks: false };
  if (typeof told !== 'object' || told === null) return undefined;
  const { key, cause, sentence, blocks } = told as Partial<Record<keyof Problem, unknown>>;
  if (typeof key !== 'string' || typeof sentence !== 'string') return undefined;
  return { key, cause: isSymptomCause(cause) ? cause : undefined, sentence, blocks: blocks === true };
}
