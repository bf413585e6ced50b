import assert from 'node:assert/strict';
import { Registry } from 'prom-client';
import type { Cluster } from '@cronjob-monitor/shared/kube';
import { ProblemList } from '@cronjob-monitor/shared/process';
import { StoreError, type Store } from '@cronjob-monitor/shared/store';
import { createApi, type Api, type ApiDeps, type ApiSettings } from '../index.ts';
import { disagreements } from './agreement.ts';
import { serve, type TestServer } from './http.ts';
import { FakeClock, monitorDefaults, RecordingLogger, type LoggedLine } from '@cronjob-monitor/shared/testing';

/** The instant at which every test of the API begins. */
export const testNow = Date.parse('2026-11-21T06:52:30.000Z');

export const testSettings: ApiSettings = {
  allowedHosts: [],
  externalHost: undefined,
  externalUrl: undefined,
  readOnly: false,
  costlyRequestsPerMinute: 60,
  maxStreams: 200,
  authMode: 'none',
  auth: {
    audiences: [],
    proxy: { peers: [], userHeader: 'X-Forwarded-User', groupsHeader: 'X-Forwarded-Groups' },
  },
  redactPatterns: [],
  clusterName: 'eu',
  actionsKey: undefined,
  defaultTimeZone: 'UTC',
  isDefaultZoneGiven: true,
  ownerLabel: undefined,
  monitorDefaults: { ...monitorDefaults, storeEvents: false },
  globalLimit: { periodMs: 1_200, burst: 10 },
  leaseMs: 15_000,
  deadManSwitchIntervalMs: 60_000,
  storage: {
    type: 'sqlite',
    logStorageEnabled: false,
    eventStorageEnabled: false,
    retentionDays: 30,
    logRetentionDays: 30,
  },
  configView: { 'log-level': 'info', sources: { 'log-level': 'file' } },
};

export interface TestApi extends AsyncDisposable {
  readonly api: Api;
  readonly server: TestServer;
  /** Asks, and compares the answer with the OpenAPI document: every test of a route is one of its contract. */
  readonly ask: TestServer['ask'];
  readonly clock: FakeClock;
  readonly registry: Registry;
  readonly problems: ProblemList;
  readonly lines: readonly LoggedLine[];
}

/** The whole API behind a socket. Without a store the database says that it is there, and answers nothing else. */
export async function startApi(
  options: {
    readonly settings?: Partial<ApiSettings>;
    readonly store?: Store;
    readonly cluster?: Cluster;
    readonly clock?: FakeClock;
    readonly uiFolder?: string;
  } = {},
): Promise<TestApi> {
  const logger = new RecordingLogger();
  const clock = options.clock ?? new FakeClock(testNow);
  const registry = new Registry();
  const problems = new ProblemList({ clock, logger });
  const deps: ApiDeps = {
    settings: { ...testSettings, ...options.settings },
    store: options.store ?? databaseAway(clock, { probe: async () => {} }),
    cluster: options.cluster ?? noCluster(),
    clock,
    logger,
    problems,
    registry,
    version: '0.1.0',
    uiFolder: options.uiFolder,
  };
  const api = createApi(deps);
  const server = await serve(api.handler);
  return {
    api,
    problems,
    server,
    clock,
    registry,
    lines: logger.lines,
    ask: async (path, question = {}) => {
      const answer = await server.ask(path, question);
      assert.deepEqual(disagreements(question.method ?? 'GET', path, answer), []);
      return answer;
    },
    [Symbol.asyncDispose]: async () => {
      await api.stop();
      await server.close();
    },
  };
}

/** A database that refuses every connection: each question of it fails in the same way, but those of `answers`. */
export function databaseAway(clock: FakeClock, answers: Partial<Store> = {}): Store {
  const refuse = (): never => {
    throw new StoreError('unavailable', 'no connection to the database');
  };
  const store: Partial<Store> = {
    clock,
    now: () => clock.now(),
    clockOffsetMs: () => undefined,
    hasAnswered: () => false,
    trouble: () => ({
      error: new StoreError('unavailable', 'no connection to the database'),
      sinceMs: 0,
      sentence: 'nothing listens at db:5432',
    }),
    ...answers,
  };
  return new Proxy(store as Store, {
    get: (target, key) => (key in target ? (target as unknown as Record<PropertyKey, unknown>)[key] : refuse()),
  });
}

/** A cluster that may not be asked: tests that need one bring it. */
function noCluster(): Cluster {
  return new Proxy({} as Cluster, {
    get: (_target, key) => {
      throw new Error(`this test has no cluster, and asked it for ${String(key)}`);
    },
  });
}
