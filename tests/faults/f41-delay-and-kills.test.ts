import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { listAlerts, putAcknowledgement, type Store } from '@cronjob-monitor/shared/store';
import type { KubeObject } from '@cronjob-monitor/simcluster';
import {
  startAlertmanagers,
  whyNoAlertmanager,
  type AlertmanagerCluster,
  type MonitorProcess,
} from '../servers/index.ts';
import { HttpSink, SmtpSink } from '../sinks/index.ts';
import { testDatabases } from '../store/databases.ts';
import { openBeside } from './checker/stored-runs.ts';
import { namespace, startBench, until, type Bench } from './harness/bench.ts';
import { timesOf } from './harness/counts.ts';
import { completeStatus, failedStatus, putCronJob, putJob } from './harness/objects.ts';
import {
  heardOf,
  putChannel,
  putSecret,
  putWebhook,
  tells,
  tellsLoopback,
  told,
  untilHeard,
} from './harness/receiver.ts';
import { randomOf } from './ledger/seeded.ts';

/** A tenth of five minutes; a success just before its end, and one just after it. */
const delayMs = 30_000;
const kills = 5;
const lastKillMs = 22_000;

/** A later channel's turn comes so long after the first one was told; told within two seconds of it. */
const turnMs = 15_000;
const turnWithinMs = 2_000;

/** F41: a delay is kept by every leader. */
for (const database of testDatabases().filter(({ name }) => name !== 'mysql')) {
  describe(`F41, the leader is killed ${kills} times while alerts wait, ${database.name}`, () => {
    let bench: Bench;
    let sink: HttpSink;
    let service: MonitorProcess;
    let store: Store;
    before(async () => {
      sink = await HttpSink.start();
      const alerting = tells('hook', { alertDelay: `${delayMs / 1_000}s` });
      bench = await startBench({ controllers: false, monitor: { alerting } });
      putWebhook(bench.sim, sink, 'hook');
      const settings = await database.fresh();
      service = await bench.prepare({ storage: settings, config: tellsLoopback });
      store = openBeside(settings);
      await service.startReady();
    });
    after(async () => {
      await store.close();
      await bench.close();
      await sink.stop();
      await database.remove();
    });

    for (let time = 1; time <= timesOf({ ci: 1, soak: 20 }); time++) {
      test(`a success in time cancels, a late one ends what was told once (${time})`, async (t) => {
        const seed = Number(process.env['SEED'] ?? Date.now() % 1_000_000);
        t.diagnostic(`SEED=${seed}`);
        const { fraction } = randomOf(seed);
        const inTime = await watchedBy(service, putCronJob(bench.sim, `in-time-${time}`));
        const late = await watchedBy(service, putCronJob(bench.sim, `late-${time}`));

        for (const cronJob of [inTime, late])
          putJob(bench.sim, cronJob, { name: nameOf(cronJob, 1), status: failedStatus() });
        const beganMs = performance.now();
        const passTo = (ms: number): Promise<void> => wait(Math.max(0, beganMs + ms - performance.now()));
        await untilStates({ [inTime.metadata.name]: 'pending', [late.metadata.name]: 'pending' });
        for (let kill = 1; kill <= kills; kill++) {
          await passTo(((kill - fraction()) / kills) * lastKillMs);
          await service.kill();
          service.start();
        }
        await passTo(delayMs - 2_000);
        putJob(bench.sim, inTime, { name: nameOf(inTime, 2), status: completeStatus() });
        await untilStates({ [inTime.metadata.name]: 'cancelled' });
        assert.ok(performance.now() - beganMs < delayMs, 'it is cancelled while it waits');
        await passTo(delayMs + 2_000);
        assert.deepEqual(heardOf(sink, 'hook', late.metadata.name), ['firing jobFailed']);
        putJob(bench.sim, late, { name: nameOf(late, 2), status: completeStatus() });
        await untilHeard(sink, { channel: 'hook', cronJob: late.metadata.name }, [
          'firing jobFailed',
          'resolved jobFailed',
        ]);
        await wait(1_000);
        assert.deepEqual(heardOf(sink, 'hook', inTime.metadata.name), []);
        assert.equal(heardOf(sink, 'hook', late.metadata.name).length, 2);
      });
    }

    const nameOf = ({ metadata }: KubeObject, number: number): string => `${metadata.name}-${number}`;

    async function untilStates(expected: Readonly<Record<string, string>>): Promise<void> {
      const states = ['pending', 'active', 'suppressed', 'resolved', 'expired', 'cancelled'] as const;
      for (const [name, state] of Object.entries(expected)) {
        await until(`the alert of ${name} is ${state}`, async () => {
          const alerts = await listAlerts(store, { states, cronJobs: [name] }, { sort: bySince });
          return alerts.length === 1 && alerts[0]?.state === state;
        });
      }
    }
  });
}

const skip = whyNoAlertmanager() ?? false;

describe('F41, the leader is killed between an alert and the turn of a later channel', { skip }, () => {
  let bench: Bench;
  let sink: HttpSink;
  let smtp: SmtpSink;
  let alertmanager: AlertmanagerCluster;
  let service: MonitorProcess;
  let store: Store;
  before(async () => {
    sink = await HttpSink.start();
    smtp = await SmtpSink.start();
    alertmanager = await startAlertmanagers(1, `${sink.url}/notified`);
    const later = ['later', 'mail', 'page'].map((name) => ({ name, after: `${turnMs / 1_000}s` }));
    const channelRefs = [{ name: 'hook' }, ...later];
    bench = await startBench({ controllers: false, monitor: { alerting: tells('hook', { channelRefs }) } });
    for (const name of ['hook', 'later']) putWebhook(bench.sim, sink, name);
    const [peer] = alertmanager.peers;
    putSecret(bench.sim, 'page', { url: peer?.url ?? '' });
    const urlSecretRef = { name: 'page', namespace, key: 'url' };
    putChannel(bench.sim, 'page', { type: 'webhook', webhook: { urlSecretRef, format: 'alertmanager' } });
    putSecret(bench.sim, 'mail', { host: '127.0.0.1', port: String(smtp.port) });
    const smtpSecretRef = { name: 'mail', namespace };
    const addresses = { from: 'monitor@example.org', to: ['ops@example.org'] };
    putChannel(bench.sim, 'mail', { type: 'email', email: { smtpSecretRef, ...addresses, tls: 'opportunistic' } });
    const settings = bench.sqlite();
    service = await bench.prepare({ storage: settings, config: tellsLoopback });
    store = openBeside(settings);
    await service.startReady();
  });
  after(async () => {
    await store.close();
    await bench.close();
    await alertmanager.remove();
    await smtp.stop();
    await sink.stop();
  });

  test('it is told once and in time, by mail and by an Alertmanager too, and not at all where a person acknowledged just before', async () => {
    const open = await watchedBy(
      service,
      putCronJob(bench.sim, 'open', { annotations: { 'cronjob-monitor.io/owner': 'team-data' } }),
    );
    const noted = await watchedBy(service, putCronJob(bench.sim, 'noted'));
    for (const cronJob of [open, noted])
      putJob(bench.sim, cronJob, { name: `${cronJob.metadata.name}-1`, status: failedStatus() });
    for (const name of ['open', 'noted'])
      await untilHeard(sink, { channel: 'hook', cronJob: name }, ['firing jobFailed']);
    for (let kill = 1; kill <= 3; kill++) {
      await wait(turnMs / 6);
      await service.kill();
      service.start();
    }
    // On a busy machine the turn may come before the last of them leads.
    const leadsAt = service.untilLeading().then(() => Date.now());
    const [alert] = await listAlerts(store, { states: ['active'], cronJobs: ['noted'] }, { sort: bySince });
    const [turn] = await store.sql('deliveries').where({ channel_name: 'later' }).max('next_at as at');
    const dueAt = Number((turn as { at: unknown }).at);
    await wait(Math.max(0, dueAt - 1_000 - Date.now()));
    const note = { byWhom: 'ana', at: Date.now(), note: undefined, expiresAt: undefined };
    await store.transaction((tx) => putAcknowledgement(tx, alert?.id ?? '', note));
    assert.ok(Date.now() < dueAt, 'it is acknowledged before the turn');
    await untilHeard(sink, { channel: 'later', cronJob: 'open' }, ['firing jobFailed']);
    const [message] = told(sink, 'later');
    const latestAt = Math.max(dueAt, await leadsAt) + turnWithinMs;
    assert.ok((message?.at ?? 0) >= dueAt - 1_000 && (message?.at ?? 0) <= latestAt, `${message?.at} ${latestAt}`);
    assert.match(JSON.stringify(message?.data), /hook was told \d\d s ago; it was not acknowledged\./);
    await wait(turnWithinMs);
    assert.deepEqual(heardOf(sink, 'later', 'noted'), []);
    assert.deepEqual(heardOf(sink, 'later', 'open').length, 1);
    assert.deepEqual(
      smtp.arrivals.map(({ raw }) => /^Subject: .*?(open|noted)/m.exec(raw)?.[1]),
      ['open'],
    );
    const notified = sink.arrivals.filter(({ path }) => path === '/notified');
    const labels = notified.map(
      ({ body }) => (JSON.parse(body) as { commonLabels: Readonly<Record<string, string>> }).commonLabels,
    );
    assert.deepEqual(
      labels.map(({ cronjob, owner }) => [cronjob, owner]),
      [['open', 'team-data']],
    );
    // A peer waits half a second for more before it notifies.
    for (const { at } of [...smtp.arrivals, ...notified])
      assert.ok(at >= dueAt - 1_000 && at <= latestAt + 500, `${at} ${latestAt}`);
  });
});

const bySince = { key: 'since', descending: false } as const;

/** A CronJob that the service knows: what ends from now on is no history. */
async function watchedBy(service: MonitorProcess, made: KubeObject): Promise<KubeObject> {
  const { name } = made.metadata;
  await service.until(`${name} is watched`, async () => {
    const body = await service
      .ask<{ monitors?: readonly unknown[] }>(`/api/v1/cronjobs/shop/${name}`)
      .catch(() => undefined);
    return (body?.monitors?.length ?? 0) > 0;
  });
  await wait(1_000); // instants of runs are whole seconds
  return made;
}
