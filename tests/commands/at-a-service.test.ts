import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { addAlert, addChannel, startFleet, type TestFleet } from '@cronjob-monitor/apiserver/testing';
import { runCommand, type Said } from '@cronjob-monitor/controller/testing';
import { type CronJobFacts, type Execution, hourMs, dayMs } from '@cronjob-monitor/shared/domain';
import type { Clock } from '@cronjob-monitor/shared/process';
import {
  beat,
  findCronJob,
  projectCronJob,
  putClusterState,
  recordDecisions,
  recordSlots,
} from '@cronjob-monitor/shared/store';
import { aGroupOfJobs, FakeClock, TestServer } from '@cronjob-monitor/shared/testing';

const testNow = Date.parse('2026-11-21T06:52:30.000Z');

/** A command against the API of a fleet, whose clock it shares. */
function at(fleet: TestFleet, argv: readonly string[], input = ''): Promise<Said> {
  return runCommand([...argv, '--server', `http://127.0.0.1:${fleet.server.port}`], { input, clock: fleet.clock });
}

async function leads(fleet: TestFleet): Promise<void> {
  const common = { holder: 'controller-0_x', version: 'v0.1.0', leading: true, epoch: 1, schedulers: [], figures: {} };
  await beat(fleet.store, {
    ...common,
    startedAt: testNow - hourMs,
    beatAt: testNow - 1_000,
    evaluatedAt: testNow - 60_000,
  });
}

const monitorOf = (spec: object) =>
  JSON.stringify({ ...ours, kind: 'CronJobMonitor', metadata: { name: 'dr', namespace: 'prod' }, spec });
const ours = { apiVersion: 'cronjob-monitor.io/v1alpha1' };

describe('lint and preview at a running service', () => {
  it('find what only the service knows: its CronJobs and channels', async () => {
    await using fleet = await startFleet();
    const backup = await fleet.addCronJob({ name: 'backup', schedule: '30 2 * * *' });
    await fleet.addMonitor({ name: 'all', spec: {} }, [backup]);
    const spec = {
      deadManSwitch: { maxTimeSinceLastSuccess: '20h' },
      alerting: { channelRefs: [{ name: 'team-chat' }] },
    };
    const { status, out } = await at(fleet, ['lint', '-'], monitorOf(spec));
    assert.equal(status, 1);
    assert.match(out, /prod\/backup: 20h is no longer than its period, 24h \(DeadManShorterThanPeriod\)/);
    assert.match(out, /team-chat: it does not exist \(ChannelUnknown\)/);
  });

  it('tell a fault of a field once, and take channels of the files for existing', async () => {
    await using fleet = await startFleet();
    await fleet.addCronJob({ name: 'backup' });
    const channel = { type: 'chat', chat: { webhookSecretRef: { name: 'a', namespace: 'b', key: 'c' } } };
    const files = [
      monitorOf({ sla: { windowDays: 0 }, alerting: { channelRefs: [{ name: 'new' }] } }),
      JSON.stringify({ ...ours, kind: 'AlertChannel', metadata: { name: 'new' }, spec: channel }),
    ];
    const { out } = await at(fleet, ['lint', '-'], files.join('\n---\n'));
    assert.equal(out.match(/spec\.sla\.windowDays/g)?.length, 1);
    assert.doesNotMatch(out, /ChannelUnknown/);
  });

  it('replay the stored runs, and end with 1 above a limit of alerts', async () => {
    await using fleet = await startFleet();
    const backup = await fleet.addCronJob({ name: 'backup', schedule: '30 2 * * *' });
    await fleet.addMonitor({ name: 'all', spec: {} }, [backup]);
    const days = [4, 3, 2, 1].map((day) => ({ createdAt: testNow - day * dayMs }));
    await fleet.addRuns(backup, ...days, { createdAt: testNow - 2 * dayMs + hourMs, status: 'failed', exitCode: 137 });
    await addChannel(fleet);
    const file = monitorOf({ missedSchedule: { enabled: false }, alerting: { channelRefs: [{ name: 'team-chat' }] } });
    const flags = ['--fail-on', 'error', '--days', '10'];
    const { status, out } = await at(fleet, ['preview', '-', ...flags, '--max-alerts', '1'], file);
    assert.equal(status, 0, out);
    assert.match(out, /CronJobMonitor prod\/dr selects 1 CronJob, 1 of them with stored runs\n/);
    assert.match(out, /1 alert: jobFailed 1\n/);
    assert.match(out, /warning jobFailed prod\/backup: .* \[told to team-chat\]\n/);
    assert.equal((await at(fleet, ['preview', '-', ...flags, '--max-alerts', '0'], file)).status, 1);
  });
});

describe('explain', () => {
  it('tells each run that did not come with its cause, and each alert with every decision about its messages', async () => {
    await using fleet = await startFleet();
    await leads(fleet);
    const backup = await fleet.addCronJob({ name: 'backup', schedule: '30 2 * * *' });
    await fleet.addMonitor({ spec: {} }, [backup]);
    await fleet.addRuns(backup, { createdAt: testNow - 3 * dayMs });
    const id = (await findCronJob(fleet.store, 'prod', 'backup'))?.id ?? 0;
    const alert = await addAlert(fleet, { message: 'Run backup-1 failed' });
    await fleet.store.fenced(fleet.epoch, async (tx) => {
      const missed = {
        outcome: 'missed',
        cause: 'controllerSilent',
        message: undefined,
        inMaintenance: false,
      } as const;
      await recordSlots(tx, [{ cronJobId: id, at: testNow - dayMs, epochAt: testNow - 90 * dayMs, ...missed }]);
      await recordDecisions(tx, [{ alertId: alert.id, cronJobId: id, action: 'notRouted', reason: 'noChannel' }]);
    });
    const { status, out } = await at(fleet, ['explain', 'prod/backup']);
    assert.equal(status, 1, out);
    assert.match(out, /2026-11-20 06:52Z {2}it did not start: the CronJob controller started nothing at all/);
    assert.match(
      out,
      /^prod\/backup {2}30 2 \* \* \* {2}warning\n {2}Last run failed 1 h ago: exit code 137, OOMKilled\n/m,
    );
    assert.match(
      out,
      /warning jobFailed \(active\), monitor prod\/dr: Last run failed 1 h ago: exit code 137, OOMKilled\n/,
    );
    assert.match(out, /No message is wanted: noChannel/);
  });

  it('tells of a group of Jobs how it stands, and of no run that was expected', async () => {
    await using fleet = await startFleet();
    await leads(fleet);
    const group = await fleet.addCronJob(aGroupOfJobs());
    await fleet.addMonitor({ spec: {} }, [group]);
    await fleet.addRuns(group, { createdAt: testNow - dayMs, scheduledAt: undefined });
    const { status, out } = await at(fleet, ['explain', 'prod/~migrate']);
    assert.equal(status, 0, out);
    assert.match(out, /^prod\/~migrate {2}group of Jobs {2}healthy\n/);
    assert.doesNotMatch(out, /Why did it not run/);
  });

  it('has nothing to explain where everything ran', async () => {
    await using fleet = await startFleet();
    await leads(fleet);
    const backup = await fleet.addCronJob({ name: 'backup', schedule: '30 2 * * *' });
    await fleet.addMonitor({ spec: {} }, [backup]);
    const { status, out } = await at(fleet, ['explain', 'prod/backup', '--last', '24h']);
    assert.equal(status, 0, out);
    assert.match(out, /there was none: no rule of its monitors held/);
  });

  it('says that no run was due yet where none was, and ends with 1 when the CronJob fails although nothing was missed', async () => {
    await using fleet = await startFleet();
    await leads(fleet);
    const backup = await fleet.addCronJob({ name: 'backup', schedule: '30 2 * * *' });
    await fleet.addMonitor({ spec: {} }, [backup]);
    const young = await at(fleet, ['explain', 'prod/backup']);
    assert.equal(young.status, 0, young.out);
    assert.match(young.out, /\n {2}no run was due yet\n/);
    assert.doesNotMatch(young.out, /every one of them started/);
    await fleet.addRuns(backup, { createdAt: testNow - hourMs, status: 'failed', exitCode: 3, reason: 'Error' });
    const failing = await at(fleet, ['explain', 'prod/backup']);
    assert.equal(failing.status, 1, failing.out);
    assert.match(failing.out, / {2}failing\n {2}Last run failed 58 min ago: exit code 3, Error\n/);
    assert.match(failing.out, /1 expected run, and every one of them started/);
    const minute = await at(fleet, ['explain', 'prod/backup', '--last', '1m']);
    assert.match(minute.out, /\n {2}no run was due in that time\n/);
  });

  it('says of a CronJob that no monitor selects that no channel is told', async () => {
    await using fleet = await startFleet();
    const { status, out } = await at(fleet, ['explain', 'prod/other']);
    assert.equal(status, 1);
    assert.match(out, /prod\/other is not known to the service: .*no CronJobMonitor selects it/);
    await fleet.addRuns(await fleet.addCronJob({ name: 'alone' }), {});
    const known = await at(fleet, ['explain', 'prod/alone']);
    assert.equal(known.status, 1);
    assert.match(known.out, /no monitor selects it now: nothing is judged, and no channel is told/);
    assert.match(known.out, /no controller leads/);
  });

  it('refuses what is no NAMESPACE/NAME, and a span that is none', async () => {
    for (const argv of [[], ['prod'], ['prod/a/b'], ['prod/backup', 'prod/other'], ['../x']]) {
      const { status, error } = await runCommand(['explain', ...argv, '--server', 'http://127.0.0.1:9']);
      assert.equal(status, 2);
      assert.match(error, /NAMESPACE\/NAME/);
    }
    assert.match((await runCommand(['explain', 'a/b', '--last', '1y', '--server', 'http://x'])).error, /at most 90d/);
  });
});

describe('route', () => {
  const alerting = {
    enabled: true,
    channelRefs: [
      { name: 'team-chat', severities: ['warning', 'critical'] },
      { name: 'pager', severities: ['critical'] },
    ],
    severityOverrides: {},
    suppressDuplicatesFor: '1h',
  };

  async function withMonitor(fleet: TestFleet, spec: object): Promise<void> {
    await leads(fleet);
    const backup = await fleet.addCronJob({ name: 'backup', schedule: '30 2 * * *' });
    await fleet.addMonitor({ spec }, [backup]);
    await fleet.addRuns(backup, { createdAt: testNow - dayMs });
  }

  it('names the channels that would hear of a failure now, and how they do', async () => {
    await using fleet = await startFleet();
    await withMonitor(fleet, { alerting });
    await addChannel(fleet);
    const { status, out } = await at(fleet, ['route', 'prod/backup']);
    assert.equal(status, 0, out);
    assert.match(out, /monitor prod\/dr\n {2}jobFailed, warning: told to team-chat\n/);
    assert.match(
      out,
      /team-chat: chat, defaultChannel #ops, ready, it has accepted nothing of late, at most 100 an hour\n/,
    );
    assert.match(out, /a channel would be told\n$/);
  });

  it('says when no channel would be told: none takes it, none exists, none is ready', async () => {
    await using fleet = await startFleet();
    await withMonitor(fleet, { alerting: { ...alerting, channelRefs: [{ name: 'pager', severities: ['critical'] }] } });
    const notRouted = await at(fleet, ['route', 'prod/backup']);
    assert.equal(notRouted.status, 1);
    assert.match(notRouted.out, /jobFailed, warning: no channel is told: no channel takes this severity\n/);
    const missing = await at(fleet, ['route', 'prod/backup', '--type', 'deadManTriggered']);
    assert.equal(missing.status, 1);
    assert.match(missing.out, /deadManTriggered is off in this monitor/);
  });

  it('counts on no channel that is not ready', async () => {
    await using fleet = await startFleet();
    await withMonitor(fleet, { alerting });
    await addChannel(fleet, { ready: false, reason: 'SecretNotFound', message: 'Secret a/b does not exist' });
    const { status, out } = await at(fleet, ['route', 'prod/backup']);
    assert.equal(status, 1);
    assert.match(out, /team-chat: chat, .*NOT READY, SecretNotFound: Secret a\/b does not exist/);
  });

  it('knows a delay, a window and a silence that would hold it back', async () => {
    await using fleet = await startFleet();
    const windows = [
      {
        name: 'mornings',
        schedule: '0 6 * * *',
        duration: '2h',
        timezone: 'UTC',
        suppressAlerts: true,
        excludeFromSla: false,
      },
    ];
    await withMonitor(fleet, { alerting: { ...alerting, alertDelay: '5m' }, maintenanceWindows: windows });
    await addChannel(fleet);
    const held = await at(fleet, ['route', 'prod/backup']);
    assert.match(held.out, /held back by maintenance window mornings, until 2026-11-21 08:00Z\n/);
    assert.match(held.out, /held back by alertDelay, until 2026-11-21 06:57Z: told if it still holds then\n/);
    const silence = { matcher: { namespaces: ['prod'] }, duration: '4h', comment: 'move' };
    assert.equal((await fleet.ask('/api/v1/silences', { method: 'POST', body: silence })).status, 201);
    assert.match((await at(fleet, ['route', 'prod/backup'])).out, /held back by silence .*, until 2026-11-21 10:52Z\n/);
  });

  it('counts the failures that a threshold still misses', async () => {
    await using fleet = await startFleet();
    await withMonitor(fleet, {
      jobFailed: { enabled: true, failureThreshold: 2, recoveryThreshold: 1, includeManual: true },
      alerting,
    });
    await addChannel(fleet);
    const { status, out } = await at(fleet, ['route', 'prod/backup']);
    assert.equal(status, 1);
    assert.match(out, /one more failure opens nothing yet: jobFailed\.failureThreshold is not reached/);
  });

  it('of a CronJob that the service does not know it says so', async () => {
    await using fleet = await startFleet();
    const { status, error } = await at(fleet, ['route', 'prod/other']);
    assert.equal(status, 2);
    assert.match(error, /404 NOT_FOUND/);
  });
});

describe('coverage', () => {
  const accepted = { last_sent_at: testNow - hourMs };
  const monitored = {
    deadManSwitch: { autoFromSchedule: { enabled: true } },
    alerting: { channelRefs: [{ name: 'team-chat', severities: ['critical'] }] },
  };

  async function aFleet(): Promise<TestFleet> {
    const fleet = await startFleet();
    await addChannel(fleet);
    await fleet.store.sql('channels').update(accepted);
    await fleet.addMonitor({ spec: monitored }, [await fleet.addCronJob({ name: 'backup' })]);
    return fleet;
  }

  it('names each CronJob that would not be heard, with the reason, and ends with 1', async () => {
    await using fleet = await aFleet();
    const unwatched = { total: 2, byNamespace: { dev: 2 }, names: ['dev/etl'] };
    await fleet.store.fenced(fleet.epoch, (tx) => putClusterState(tx, 'unwatched', unwatched));
    const { status, out } = await at(fleet, ['coverage']);
    assert.equal(status, 1);
    assert.equal(
      out,
      [
        'dev/etl  unwatched (no monitor selects it)',
        'prod/backup  jobFailed: nobody (no channel takes this severity)',
        'prod/backup  missedSchedule: nobody (no channel takes this severity)',
        'and 1 CronJob more: unwatched',
        'covered: 0 of 3 CronJobs (0 %)\n',
      ].join('\n'),
    );
    assert.equal((await at(fleet, ['coverage', '--fail-under', '0'])).status, 0);
  });

  it('ends with 0 when all are covered for the types and the namespace that count', async () => {
    await using fleet = await aFleet();
    const { status, out } = await at(fleet, ['coverage', '--types', 'deadManTriggered', '--namespace', 'prod']);
    assert.deepEqual([status, out], [0, 'covered: 1 of 1 CronJob (100 %)\n']);
    await fleet.store.sql('channels').update({ last_sent_at: testNow - 40 * dayMs });
    const late = await at(fleet, ['coverage', '--types', 'deadManTriggered']);
    assert.equal(late.status, 1);
    assert.match(late.out, /prod\/backup {2}deadManTriggered: unproved \(it has accepted nothing of late\)/);
    assert.equal((await at(fleet, ['coverage', '--types', 'deadManTriggered', '--days', '60'])).status, 0);
  });

  it('ends with 2 where no CronJob is known: a name that is written wrong is not covered', async () => {
    await using fleet = await aFleet();
    const { status, error } = await at(fleet, ['coverage', '--namespace', 'prdo', '--fail-under', '0']);
    assert.deepEqual(
      [status, error],
      [2, 'cronjob-monitor coverage: the service knows no CronJob in namespace "prdo"\n'],
    );
    await using empty = await startFleet();
    const all = await at(empty, ['coverage']);
    assert.deepEqual(
      [all.status, all.out, all.error],
      [2, 'covered: 0 of 0 CronJobs\n', 'cronjob-monitor coverage: the service knows no CronJob that you may read\n'],
    );
  });

  it('ends with 2 when it cannot be asked', async () => {
    await using fleet = await aFleet();
    assert.match((await at(fleet, ['coverage', '--types', 'jobLost'])).error, /--types "jobLost" is unknown/);
    assert.equal((await at(fleet, ['coverage', '--days', '0'])).status, 2);
    assert.equal((await runCommand(['coverage', '--server', 'http://127.0.0.1:9'], {})).status, 2);
  });
});

describe('the service that is asked', () => {
  async function aServer(t: TestContext): Promise<TestServer> {
    const server = await TestServer.start();
    t.after(() => server.stop());
    return server;
  }
  const explain = (server: string, world: object = {}, ...flags: string[]) =>
    runCommand(['explain', 'prod/backup', '--server', server, ...flags], world);

  it('gets the token of the environment or of a file, and no output shows it', async (t) => {
    const server = await aServer(t);
    server.answer = () => ({
      status: 403,
      body: { error: { code: 'FORBIDDEN', message: 'you may not', requestId: 'r' } },
    });
    const fromEnvironment = await explain(server.url, { environment: { CRONJOB_MONITOR_TOKEN: 's3cret' } });
    assert.equal(fromEnvironment.status, 2);
    assert.match(fromEnvironment.error, /403 FORBIDDEN: you may not/);
    const folder = mkdtempSync(join(tmpdir(), 'cronjob-monitor-token-'));
    t.after(() => rmSync(folder, { recursive: true }));
    writeFileSync(join(folder, 'token'), 's3cret2\n');
    const fromFile = await explain(server.url, {}, '--token-file', join(folder, 'token'));
    assert.deepEqual(
      server.requests.map(({ headers }) => headers['authorization']),
      ['Bearer s3cret', 'Bearer s3cret2'],
    );
    assert.doesNotMatch(fromEnvironment.error + fromFile.error, /s3cret/);
    assert.match((await explain(server.url, {}, '--token-file', join(folder, 'none'))).error, /cannot be read: ENOENT/);
    assert.match((await explain(server.url, { environment: { CRONJOB_MONITOR_TOKEN: 'a b' } })).error, /is no token/);
  });

  it('is not followed elsewhere, and is told from another server', async (t) => {
    const server = await aServer(t);
    server.answer = () => ({ status: 302, headers: { location: 'http://127.0.0.1:9/' } });
    assert.match((await explain(server.url)).error, /answered 302; give the address it leads to/);
    server.answer = () => ({ body: '<html>', headers: { 'content-type': 'text/html' } });
    assert.match(
      (await explain(server.url)).error,
      /answered 200, and no JSON: is it the address of cronjob-monitor\?/,
    );
    assert.equal(server.requests.length, 2);
  });

  it('has 30 s to answer, and may be away', async (t) => {
    const server = await aServer(t);
    const clock = new FakeClock(testNow);
    server.answer = () => 'never';
    const asked = explain(server.url, { clock });
    while (server.requests.length === 0) await new Promise((resolve) => setImmediate(resolve));
    await clock.advance(30_000);
    const { status, error } = await asked;
    assert.equal(status, 2);
    assert.match(error, /no answer within 30 s/);
    const url = server.url;
    await server.stop();
    assert.match((await explain(url)).error, /cannot be reached: nothing listens at this address \(ECONNREFUSED\)/);
  });

  it('has an address without secrets', async () => {
    for (const url of ['monitor', 'ftp://a', 'http://a:b@c', 'http://a/?token=s3cret']) {
      const { status, error } = await explain(url);
      assert.equal(status, 2);
      assert.match(error, /--server .*allowed: a URL such as/);
      assert.doesNotMatch(error, /s3cret/);
    }
  });
});

describe('wait', () => {
  /** What happens at each pause between two questions; time passes by itself. */
  function waitAt(
    fleet: TestFleet,
    flags: readonly string[],
    happens: readonly (() => Promise<unknown>)[] = [],
  ): Promise<Said> {
    const { clock } = fleet;
    const left = [...happens];
    const passing: Clock = {
      now: () => clock.now(),
      monotonicMs: () => clock.monotonicMs(),
      every: (...given) => clock.every(...given),
      async sleep(ms, signal) {
        if (ms > 5_000) return clock.sleep(ms, signal); // the limit of an answer
        await left.shift()?.();
        await clock.advance(ms);
      },
    };
    const server = ['--server', `http://127.0.0.1:${fleet.server.port}`];
    return runCommand(['wait', 'prod/backup', ...(flags.includes('--server') ? [] : server), ...flags], {
      clock: passing,
    });
  }

  async function rollOut(fleet: TestFleet, backup: CronJobFacts, changes: Partial<CronJobFacts>): Promise<void> {
    const facts = { ...backup, ...changes };
    await fleet.store.fenced(fleet.epoch, (tx) => projectCronJob(tx, { facts, seenAt: fleet.clock.now() }));
  }

  const run =
    (fleet: TestFleet, backup: CronJobFacts, changes: Partial<Execution> = {}) =>
    async () =>
      fleet.addRuns(backup, { createdAt: testNow - hourMs, templateHash: backup.templateHash, ...changes });

  it('ends with 0 when a run of the present template has succeeded, and not before', async () => {
    await using fleet = await startFleet();
    const backup = await fleet.addCronJob({ name: 'backup' });
    await fleet.addMonitor({ spec: {} }, [backup]);
    const beganAt = fleet.clock.now();
    const { status, out } = await waitAt(fleet, ['--first-run'], [async () => {}, run(fleet, backup)]);
    assert.equal(status, 0, out);
    assert.equal(out, 'prod/backup is Healthy: Its last run with this job template succeeded.\n');
    assert.equal(fleet.clock.now(), beganAt + 10_000);
  });

  it('ends with 1 when it fails, with how', async () => {
    await using fleet = await startFleet();
    const backup = await fleet.addCronJob({ name: 'backup' });
    await fleet.addMonitor({ spec: {} }, [backup]);
    const fails = run(fleet, backup, { status: 'failed', exitCode: 3, reason: 'Error' });
    const { status, out } = await waitAt(fleet, [], [fails]);
    assert.equal(status, 1);
    assert.equal(out, 'prod/backup is Degraded: Its last run failed (exit code 3, Error).\n');
  });

  it('takes a template that came back for healthy at once, and with --first-run when it has run again', async () => {
    await using fleet = await startFleet();
    const backup = await fleet.addCronJob({ name: 'backup', createdAt: testNow - dayMs });
    await fleet.addMonitor({ spec: {} }, [backup]);
    await run(fleet, backup, { createdAt: testNow - 3 * hourMs })();
    await rollOut(fleet, backup, { templateHash: 'template-2', templateWrittenAt: testNow - 2 * hourMs });
    await rollOut(fleet, backup, { templateWrittenAt: testNow - hourMs });
    assert.equal((await waitAt(fleet, [])).status, 0);
    const { status, out } = await waitAt(fleet, ['--first-run', '--timeout', '6s']);
    assert.equal(status, 1);
    assert.match(out, /^prod\/backup is not Healthy after 6s: No run that was made since/);
    assert.equal(
      (await waitAt(fleet, ['--first-run'], [run(fleet, backup, { createdAt: testNow - 60_000 })])).status,
      0,
    );
  });

  it('does not take what is said of an earlier generation for an answer', async () => {
    await using fleet = await startFleet();
    const backup = await fleet.addCronJob({ name: 'backup', createdAt: testNow - dayMs });
    await fleet.addMonitor({ spec: {} }, [backup]);
    await run(fleet, backup, { status: 'failed' })();
    const fix = { templateHash: 'template-2', templateWrittenAt: testNow, generation: 2 };
    const succeeds = run(fleet, { ...backup, ...fix }, { createdAt: testNow + 5_000 });
    const { status, out } = await waitAt(
      fleet,
      ['--generation', '2'],
      [async () => {}, () => rollOut(fleet, backup, fix), succeeds],
    );
    assert.equal(status, 0, out);
    const late = await waitAt(fleet, ['--generation', '3', '--timeout', '5s']);
    assert.deepEqual(
      [late.status, late.out],
      [1, 'prod/backup is not Healthy after 5s: The service knows its generation 2, and not 3.\n'],
    );
  });

  it('waits for one that is not known yet, and says so when time is over', async () => {
    await using fleet = await startFleet();
    const beganAt = fleet.clock.now();
    const { status, out } = await waitAt(fleet, ['--timeout', '12s']);
    assert.equal(status, 1);
    assert.match(out, /after 12s: The service does not know it/);
    assert.equal(fleet.clock.now(), beganAt + 12_000);
  });

  it('ends with 2 when the service never answers, and when what is asked is wrong', async () => {
    await using fleet = await startFleet();
    const gone = await TestServer.start();
    const { url } = gone;
    await gone.stop();
    const { status, error } = await waitAt(fleet, ['--server', url, '--timeout', '6s']);
    assert.equal(status, 2);
    assert.match(error, /nothing listens at this address/);
    assert.equal((await waitAt(fleet, ['--timeout', '8d'])).status, 2);
    assert.equal((await waitAt(fleet, ['--generation', '0'])).status, 2);
  });
});
