import { after, describe } from 'node:test';
import { createLogger, systemClock } from '@cronjob-monitor/shared/process';
import { testDatabases, type TestDatabase } from '../store/databases.ts';
import {
  hourMs,
  minuteMs,
  secondMs,
  type CronJobStory,
  type Disturbance,
  type History,
  type MonitorStory,
} from './observer/history.ts';
import { observe, type ObserveDeps, type Observed } from './observer/observe.ts';

const logger = createLogger({ level: 'error', format: 'text', clock: systemClock, write: () => {} });

export const midnight = Date.UTC(2026, 10, 22);

/** An instant of the day that begins at `midnight`. */
export function at(hour: number, minute = 0, second = 0): number {
  return midnight + hour * hourMs + minute * minuteMs + second * secondMs;
}

/** The UID of the CronJob (`c`) or monitor (`a`) of this number. */
export function storyUid(kind: 'c' | 'a', index: number): string {
  return `${kind}${String(index).padStart(7, '0')}-0000-4000-8000-000000000000`;
}

/** A CronJob of `prod` that runs each hour and whose runs all succeed. */
export function aCronJobStory(index: number, changes: Partial<CronJobStory>): CronJobStory {
  return {
    uid: storyUid('c', index),
    namespace: 'prod',
    name: `job-${index}`,
    tier: 'a',
    rhythm: { everyHours: 1, minute: 0 },
    policy: 'Allow',
    suspend: false,
    ttlSeconds: undefined,
    successLimit: 5,
    failureLimit: 5,
    createdAt: midnight,
    deletedAt: undefined,
    edits: [],
    runs: [],
    ...changes,
  };
}

/** A monitor of `prod` that stays as it was made. */
export function aMonitorStory(index: number, changes: Partial<MonitorStory>): MonitorStory {
  return {
    uid: storyUid('a', index),
    namespace: 'prod',
    name: `monitor-${index}`,
    spec: {},
    createdAt: midnight,
    deletedAt: undefined,
    edits: [],
    ...changes,
  };
}

/** Watches a history from its beginning through these disturbances. */
type Watch = (
  history: History,
  disturbances?: readonly Disturbance[],
  more?: Pick<ObserveDeps, 'look' | 'lookAt'>,
) => Promise<Observed>;

/** Tests of what whole services say of histories in virtual time, on SQLite. */
export function describeWatching(title: string, tests: (watch: Watch, database: TestDatabase) => void): void {
  for (const database of testDatabases().filter(({ name }) => name === 'sqlite'))
    describe(`${title}: ${database.name}`, () => {
      after(() => database.remove());
      tests(
        (history, disturbances = [], more = {}) =>
          observe(
            history,
            { startsAt: history.startAt, disturbances },
            { freshDatabase: () => database.fresh(), logger, ...more },
          ),
        database,
      );
    });
}
