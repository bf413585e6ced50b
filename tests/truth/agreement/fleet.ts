import type { Alert, AlertList, CronJobList } from '@cronjob-monitor/shared/contract';
import { hourMs, minuteMs, type History, type MonitorStory } from '../observer/history.ts';
import { Random } from '../observer/random.ts';
import { randomHistory } from '../observer/random-history.ts';

/** A fleet of a seed: nine hours of a few CronJobs whose monitors promise much, and receivers that do not always answer. */
export interface Fleet {
  readonly history: History;
  /** When it is looked at while it moves. */
  readonly looks: readonly number[];
  /** The status that a receiver answers with; from the middle of the history on it may be another one. */
  readonly answersWith: (now: number) => number;
}

const size = { cells: 1, cronJobs: 8, days: 0.375, hasGroups: true };

export function fleetOf(seed: number): Fleet {
  const history = randomHistory(seed, size);
  const chance = new Random(seed + 77_777);
  const { startAt, endAt } = history;
  const instant = (): number => startAt + chance.whole(3_600, (endAt - startAt) / 1_000 - 1) * 1_000;
  const middle = startAt + (endAt - startAt) / 2;
  const [early, late] = chance.pick([
    [200, 200],
    [200, 200],
    [500, 200],
    [200, 503],
    [410, 410],
  ] as const);
  return {
    history: {
      ...history,
      monitors: history.monitors.map((monitor) => promising(monitor, chance)),
      ...(chance.chance(0.3) && { rateLimiting: { maxAlertsPerHour: 4, burstLimit: 2 } }),
    },
    looks: [instant(), instant()].sort((a, b) => a - b),
    answersWith: (now) => (now < middle ? early : late),
  };
}

/**
 * A monitor with targets, windows and other severities besides; the same for each of its edits. No window begins or ends with the history, at
 * 09:00: figures follow an instant later.
 */
function promising(monitor: MonitorStory, chance: Random): MonitorStory {
  const more = {
    ...(chance.chance(0.6) && {
      sla: {
        minSuccessRate: chance.pick([0, 50, 95]),
        windowDays: chance.pick([1, 7]),
        ...(chance.chance(0.4) && { minRuns: 3 }),
        ...(chance.chance(0.5) && { maxDuration: chance.pick(['1m', '4m', '2h']) }),
        ...(chance.chance(0.3) && { minDuration: chance.pick(['5s', '2m']) }),
        ...(chance.chance(0.3) && { finishBy: { time: chance.pick(['03:00', '06:30']) } }),
      },
    }),
    ...(chance.chance(0.3) && { deadManSwitch: { maxTimeSinceLastSuccess: chance.pick(['1h', '5h', '26h']) } }),
    ...(chance.chance(0.2) && {
      maintenanceWindows: [{ name: 'night', schedule: chance.pick(['0 2 * * *', '0 5 * * *']), duration: '3h' }],
    }),
  };
  const alerting = {
    ...(chance.chance(0.3) && { severityOverrides: { jobFailed: 'critical' } }),
    ...(chance.chance(0.2) && { suppressDuplicatesFor: '2h' }),
    ...(chance.chance(0.1) && { channelRefs: [] }),
    ...(chance.chance(0.1) && { channelRefs: [{ name: 'hook', severities: ['critical'] }] }),
  };
  const spec = (of: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> => ({
    ...of,
    ...more,
    alerting: { ...(of['alerting'] as object | undefined), ...alerting },
  });
  return {
    ...monitor,
    spec: spec(monitor.spec),
    edits: monitor.edits.map((edit) => ({ ...edit, spec: spec(edit.spec) })),
  };
}

/** What people do while they look: one silences a CronJob, a namespace or one alert, another takes note of an alert. */
export async function act(address: string, seed: number, now: number): Promise<void> {
  const chance = new Random(seed + 99_999 + now / minuteMs);
  const ask = async <T>(path: string, body?: object): Promise<T> => {
    const posted = body && {
      method: 'POST',
      body: JSON.stringify(body),
      headers: { 'content-type': 'application/json' },
    };
    const response = await fetch(`${address}/api/v1${path}`, posted);
    if (response.status >= 300) throw new Error(`${path} answered ${response.status}: ${await response.text()}`);
    return (await response.json()) as T; // the suites of the API check the shapes
  };
  const { items: alerts } = await ask<AlertList>('/alerts?limit=500&state=active,suppressed');
  const { items: cronJobs } = await ask<CronJobList>('/cronjobs?limit=500');
  if (cronJobs.length > 0 && chance.chance(0.7)) {
    const { namespace, name } = chance.pick(cronJobs);
    const matchers: object[] = [{ cronjobs: [name] }, { namespaces: [namespace] }];
    if (alerts.length > 0) matchers.push({ alertId: chance.pick<Alert>(alerts).id });
    const duration = `${chance.pick([20, 400, 2_000])}m`;
    await ask('/silences', { matcher: chance.pick(matchers), duration, comment: 'storage move', by: 'jonas' });
  }
  if (alerts.length > 0 && chance.chance(0.6)) {
    const { id } = chance.pick<Alert>(alerts);
    const expiresAt = new Date(now + 20 * hourMs).toISOString();
    await ask(`/alerts/${id}/acknowledge`, { by: 'ana', note: 'on it', ...(chance.chance(0.5) && { expiresAt }) });
  }
}
