// How long lists over many clusters of one database take while runs are recorded in two of them, how many connections they use there, and
// what one cluster that answers nothing costs the others. PostgreSQL takes as many connections as it does by default.
import { ask, testSettings } from '@cronjob-monitor/apiserver/testing';
import { systemClock } from '@cronjob-monitor/shared/process';
import { describeSelf, inSchema, openStore, schemaOpener } from '@cronjob-monitor/shared/store';
import { RecordingLogger } from '@cronjob-monitor/shared/testing';
import { setTimeout as wait } from 'node:timers/promises';
import { serveApi } from '../api/api-under-test.ts';
import { aClusterOfOne } from '../api/cluster.ts';
import { ownServers } from '../store/servers.ts';
import { benchNamespaces, fillFleet } from './api-fill.ts';
import { startWriter } from './api-writer.ts';
import { Report } from './report.ts';

const clusters = Number(process.env['BENCH_CLUSTERS'] ?? 100);
const cronJobs = Number(process.env['BENCH_CRONJOBS'] ?? 1_000);
/** Ended runs of each CronJob. */
const runsOfEach = 10;
const rounds = Number(process.env['BENCH_ROUNDS'] ?? 100);
const serverTakes = 100;
const paths = [
  '/clusters',
  '/cronjobs?limit=50',
  '/cronjobs?limit=50&sort=-lastRun',
  '/alerts?limit=50',
  '/incidents?limit=50',
  '/cronjobs/prod/none',
];
const deps = { clock: systemClock, log: new RecordingLogger(), statementLimitMs: 10_000 };

const [postgres] = ownServers;
if (!postgres) throw new Error('there is no PostgreSQL');
const report = new Report('clusters', `${clusters} clusters x ${cronJobs} CronJobs in one ${postgres.name}`);
const server = await postgres.start([`max_connections=${serverTakes}`]);
const home = server.settings();
const names = Array.from({ length: clusters }, (_, index) => `cluster_${String(index).padStart(3, '0')}`);
for (const name of names) await fill(name);

const store = openStore(inSchema(home, names[0] ?? ''), deps);
const openSchema = schemaOpener(home, deps);
const settings = { ...testSettings, clusterName: names[0], costlyRequestsPerMinute: 1_000_000 };
const api = await serveApi({ store, cluster: aClusterOfOne(), clock: systemClock, settings, openSchema });
try {
  const begunAt = performance.now();
  while ((await read('/clusters')).items.length < clusters) await wait(100);
  report.figure(`until ${clusters} clusters are shown`, (performance.now() - begunAt) / 1_000, 's');
  const writers = names.slice(0, 2).map((name) => startWriter(inSchema(home, name)));
  for (const path of paths) await measure(path);
  for (const writer of writers) {
    const { runs, p99Ms } = await writer.stop();
    report.note(`${runs} runs were recorded meanwhile, 17 in a batch: p99 of a batch ${p99Ms.toFixed(0)} ms`);
  }
  await wait(15_000);
  report.figure('connections of a service that nothing is asked of', await connections(), '');

  const silent = openSchema(names[1] ?? '');
  const locked = await silent.sql.transaction();
  await locked.raw('set local idle_in_transaction_session_timeout = 0');
  await locked.raw('lock table cronjob_list, cluster_state, heartbeats, cronjobs, alerts in access exclusive mode');
  for (const path of paths) {
    const startedAt = performance.now();
    const answer = await get(path);
    report.figure(`GET ${path}: with one that answers nothing`, performance.now() - startedAt, 'ms', 4_000);
    report.note(
      `${answer.status}, ${/"missing":\[[^\]]*\]|"problem":"[^"]+"/.exec(answer.text)?.[0].slice(0, 100) ?? ''}`,
    );
  }
  await locked.rollback();
  await silent.close();
} finally {
  await api[Symbol.asyncDispose]();
  await store.close();
  await server.server.remove();
}
report.end();

/** A cluster as its controller leaves it; the others are copies of the first one. */
async function fill(name: string): Promise<void> {
  const [first = ''] = names;
  if (name !== first) await server.run(copyOf(first, name));
  const of = openStore(inSchema(home, name), deps);
  if (name === first) await fillFleet(of, { cronJobs, executions: cronJobs * runsOfEach }, of.now());
  await of.fenced(1, (tx) => describeSelf(tx, { name, defaultTimeZone: 'UTC' }));
  await of.close();
}

function copyOf(from: string, to: string): string {
  return `do $$ declare t text; c text; begin
    execute 'create schema ${to}';
    for t in select tablename from pg_tables where schemaname = '${from}' loop
      execute format('create table ${to}.%I (like ${from}.%I including all)', t, t);
      execute format('insert into ${to}.%I overriding system value select * from ${from}.%I', t, t);
    end loop;
    for t, c in select table_name, column_name from information_schema.columns
      where table_schema = '${to}' and is_identity = 'YES' loop
      execute format('select setval(pg_get_serial_sequence(''${to}.%I'', ''%I''), (select coalesce(max(%I), 1) from ${to}.%I))', t, c, c, t);
    end loop; end $$`;
}

async function measure(path: string): Promise<void> {
  const tookMs: number[] = [];
  const others: string[] = [];
  let most = 0;
  const over = new AbortController();
  const watching = (async () => {
    while (!over.signal.aborted) {
      most = Math.max(most, await connections());
      await wait(20);
    }
  })();
  const usedBefore = process.cpuUsage();
  for (let round = 0; round < rounds; round++) {
    const startedAt = performance.now();
    // Each one is another question: an answer that is kept costs nothing.
    const answer = await get(
      `${path}${path.includes('?') ? '&' : '?'}namespace=${[...benchNamespaces, `n${round}`].join(',')}`,
    );
    tookMs.push(performance.now() - startedAt);
    if (answer.status >= 500 || /"missing":|cannot be read/.test(answer.text)) others.push(answer.text.slice(-300));
  }
  const used = process.cpuUsage(usedBefore);
  over.abort();
  await watching;
  const rank = (share: number): number => tookMs.toSorted((a, b) => a - b)[Math.ceil(share * rounds) - 1] ?? NaN;
  report.figure(`GET ${path}: p50`, rank(0.5), 'ms');
  report.figure(`GET ${path}: p99 of ${rounds}`, rank(0.99), 'ms', 250);
  report.figure(`GET ${path}: processor time of the service`, (used.user + used.system) / 1_000 / rounds, 'ms');
  report.figure(`GET ${path}: most connections`, most, '', serverTakes / 2);
  report.figure(`GET ${path}: answers without all clusters`, others.length, '', 0);
  if (others[0]) report.note(others[0]);
}

async function get(path: string): ReturnType<typeof ask> {
  return ask(api.port, `/api/v1${path}`, {});
}

async function read(path: string): Promise<{ readonly items: readonly unknown[] }> {
  const answer = await get(path);
  return answer.status === 200 ? (answer.json() as { items: unknown[] }) : { items: [] };
}

/** Of the service, as the server counts them, without the one that asks. */
async function connections(): Promise<number> {
  const [row] = await server.run(
    `select count(*)::int as n from pg_stat_activity where backend_type = 'client backend' and pid <> pg_backend_pid()`,
  );
  return Number(row?.['n']);
}
