import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  toAlertFacts,
  type AlertMessage,
  type Attempt,
  type Evidence,
  type FrozenMessage,
} from '@cronjob-monitor/shared/domain';
import { listEvidence, listLiveAlerts } from '@cronjob-monitor/shared/store';
import { anAlertingFixture, type AlertingFixture } from '../testing/alerting-fixture.ts';
import { completeAlerts, podStatusOf, type LearnedOfRun } from './complete.ts';

const jobUid = '0b6b6d3a-1a55-4d5c-9a41-9f3c21aa0001';
const waitMs = 10_000;
const everything = {
  logs: true,
  logLines: 2,
  includeInitContainerLogs: false,
  events: true,
  podStatus: true,
  suggestedFixes: true,
};

/** A run has failed, and its message waits. */
async function aWaitingMessage(test: Parameters<typeof anAlertingFixture>[0], uid = jobUid): Promise<AlertingFixture> {
  const fixture = await anAlertingFixture(test);
  await fixture.fails({
    context: { jobUid: uid, jobName: 'nightly-1' },
    awaited: { messageWaitMs: waitMs, pods: null },
  });
  return fixture;
}

function learned(fixture: AlertingFixture, changes: Partial<LearnedOfRun> = {}): LearnedOfRun {
  const { cronJob } = fixture.finding({ kind: 'quiet' });
  const piece = (kind: Evidence['kind'], name: string, body: string | undefined): Evidence => ({
    owner: jobUid,
    kind,
    name,
    cronJobUid: cronJob.uid,
    createdAt: 1,
    capturedAt: 2,
    body,
    truncated: false,
    unavailable: body === undefined ? 'timeout' : undefined,
  });
  const event = { type: 'Warning', reason: 'BackOff', object: 'Pod/p', message: 'again', count: 1 };
  return {
    cronJobUid: cronJob.uid,
    jobUid,
    createdAt: 1,
    log: piece('logs', 'p/main', 'one\ntwo\nthree\n'),
    initLogs: [piece('logs', 'p/setup', 'ready\n')],
    events: piece('events', '', JSON.stringify(Array.from({ length: 30 }, (_, at) => ({ ...event, at })))),
    attempts: piece('attempts', '', JSON.stringify([{ pod: 'p', phase: 'Failed', containers: [] }])),
    podStatus: { phase: 'Failed', reason: 'OOMKilled', node: 'n', restarts: 0, waiting: null },
    place: { pod: 'p', container: 'main', image: 'i', node: 'n' },
    changes: [],
    fault: undefined,
    decisive: undefined,
    fix: undefined,
    fixOf: ({ name }) => `Advice of ${name}.`,
    includeOf: () => everything,
    ...changes,
  };
}

/** The newest message as it leaves, if it may leave by now. */
async function messageOf(
  fixture: AlertingFixture,
): Promise<{ waitsMs: number; alert: AlertMessage['alert']; context: Record<string, unknown> }> {
  const newest = 'from deliveries order by created_at desc, seq desc';
  const [waiting] = await fixture.rows(`select next_at ${newest}`);
  await fixture.claim();
  const [row] = await fixture.rows(`select payload ${newest}`);
  const { alert, context } = (JSON.parse(String(row?.['payload'])) as FrozenMessage).message.data as unknown as Pick<
    AlertMessage,
    'alert'
  > & { context: Record<string, unknown> };
  return { waitsMs: Number(waiting?.['next_at']) - fixture.clock.now(), alert, context };
}

async function alertOf(fixture: AlertingFixture) {
  const { cronJob } = fixture.finding({ kind: 'quiet' });
  const [alert] = await listLiveAlerts(fixture.store, [cronJob.id]);
  assert.ok(alert);
  return alert;
}

test('a message that waits gains what was learned and goes at once', async (context) => {
  const fixture = await aWaitingMessage(context);
  assert.equal((await messageOf(fixture)).waitsMs, waitMs);
  assert.equal(await completeAlerts(fixture.store, fixture.epoch, [learned(fixture)]), 1);
  const { waitsMs, context: told } = await messageOf(fixture);
  assert.equal(waitsMs, 0);
  assert.equal(told['logs'], 'two\nthree\n', 'the last lines that the monitor asks for');
  assert.equal((told['events'] as unknown[]).length, 20);
  assert.deepEqual([told['suggestedFix'], told['changes']], ['Advice of backups.', []]);
  const { id, context: stored } = await alertOf(fixture);
  const facts = toAlertFacts(stored);
  assert.deepEqual([facts.evidenceOf, facts.hasLogs, facts.podStatus?.reason], [jobUid, true, 'OOMKilled']);
  assert.deepEqual(
    (await listEvidence(fixture.store, id)).map(({ kind, name, truncated }) => [kind, name, truncated]),
    [
      ['attempts', '', false],
      ['events', '', true],
      ['logs', 'p/main', true],
    ],
  );
});

test('events that were read later tell whose fault it is, in the alert and in the message that waits', async (context) => {
  const fixture = await aWaitingMessage(context);
  assert.equal((await alertOf(fixture)).fault, undefined);
  const fault = { cause: 'platform', scope: 'node node-3' } as const;
  await completeAlerts(fixture.store, fixture.epoch, [learned(fixture, { fault })]);
  assert.deepEqual((await alertOf(fixture)).fault, fault);
  const { cause, scope } = (await messageOf(fixture)).alert;
  assert.deepEqual({ cause, scope }, fault);
});

test('it is done once for a run, and for no other run', async (context) => {
  const fixture = await aWaitingMessage(context);
  await completeAlerts(fixture.store, fixture.epoch, [learned(fixture)]);
  const again = learned(fixture, { fixOf: () => 'Other advice.' });
  assert.equal(await completeAlerts(fixture.store, fixture.epoch, [again]), 0);
  const other = '0b6b6d3a-1a55-4d5c-9a41-9f3c21aa0002';
  assert.equal(await completeAlerts(fixture.store, fixture.epoch, [learned(fixture, { jobUid: other })]), 0);
  assert.equal((await messageOf(fixture)).context['suggestedFix'], 'Advice of backups.');
});

test('only what the monitor asks for is kept and told; init containers come before', async (context) => {
  const fixture = await aWaitingMessage(context);
  const nothing = { ...everything, logs: false, events: false, podStatus: false, suggestedFixes: false };
  await completeAlerts(fixture.store, fixture.epoch, [learned(fixture, { includeOf: () => nothing })]);
  const { context: told } = await messageOf(fixture);
  const { logs, logsUnavailable, events, pods, suggestedFix } = told;
  assert.deepEqual([logs, logsUnavailable, events, pods, suggestedFix], [null, null, null, null, null]);
  assert.deepEqual(await listEvidence(fixture.store, (await alertOf(fixture)).id), []);

  const second = await aWaitingMessage(context);
  const init = { ...everything, includeInitContainerLogs: true };
  await completeAlerts(second.store, second.epoch, [learned(second, { includeOf: () => init })]);
  assert.equal((await messageOf(second)).context['logs'], '--- setup ---\nready\n--- main ---\ntwo\nthree\n');
});

test('a log that could not be read is said to be missing, and why', async (context) => {
  const fixture = await aWaitingMessage(context);
  const log = { ...learned(fixture).log, body: undefined, unavailable: 'nodeUnreachable' } as Evidence;
  await completeAlerts(fixture.store, fixture.epoch, [learned(fixture, { log })]);
  const { context: told } = await messageOf(fixture);
  assert.deepEqual([told['logs'], told['logsUnavailable']], [null, 'nodeUnreachable']);
});

test('an alert that ended meanwhile keeps what was learned, and its one message tells it', async (context) => {
  const fixture = await aWaitingMessage(context);
  await fixture.succeeds();
  assert.equal(await completeAlerts(fixture.store, fixture.epoch, [learned(fixture)]), 1);
  assert.deepEqual(await fixture.messages(), ['team-chat firing cancelled', 'team-chat closing ready']);
  const { context: told, waitsMs } = await messageOf(fixture);
  assert.deepEqual([told['suggestedFix'], waitsMs], ['Advice of backups.', 0]);
});

test('a message whose alert speaks of a newer run as it leaves is about that run alone', async (context) => {
  const fixture = await aWaitingMessage(context);
  const newer = '0b6b6d3a-1a55-4d5c-9a41-9f3c21aa0002';
  await fixture.fails({
    context: { jobUid: newer, jobName: 'nightly-2' },
    count: 2,
    message: 'The run nightly-2 failed.',
  });
  const log = (body: string) => ({ ...learned(fixture).log, body }) as Evidence;
  const ofNewer = learned(fixture, { jobUid: newer, log: log('the second\n'), fixOf: () => 'For the second.' });
  const ofFirst = learned(fixture, { log: log('the first\n'), fixOf: () => 'For the first.' });
  assert.equal(await completeAlerts(fixture.store, fixture.epoch, [ofFirst, ofNewer]), 1);
  const { alert, context: told } = await messageOf(fixture);
  assert.deepEqual(
    [alert.message, alert.occurrences, told['logs'], told['suggestedFix']],
    ['The run nightly-2 failed.', 2, 'the second\n', 'For the second.'],
  );
});

test('a message that waited for more than a minute says what is so as it leaves, with the log of the newest run', async (context) => {
  const fixture = await anAlertingFixture(context);
  await fixture.fails({ context: { jobUid, jobName: 'nightly-1' } });
  fixture.clock.stepWall(2 * 60_000);
  const newest = '0b6b6d3a-1a55-4d5c-9a41-9f3c21aa0003';
  await fixture.fails({
    context: { jobUid: newest, jobName: 'nightly-3' },
    count: 3,
    message: 'The run nightly-3 failed.',
  });
  await completeAlerts(fixture.store, fixture.epoch, [learned(fixture, { jobUid: newest })]);
  const { alert, context: told } = await messageOf(fixture);
  assert.deepEqual([alert.message, alert.occurrences], ['The run nightly-3 failed.', 2]);
  assert.deepEqual([told['logs'], told['suggestedFix']], ['two\nthree\n', 'Advice of backups.']);
});

test('a message that was claimed once stays as it was sent', async (context) => {
  const fixture = await aWaitingMessage(context);
  fixture.clock.stepWall(waitMs);
  for (const { id } of await fixture.claim()) {
    const error = { category: 'unauthorized', message: 'no', httpStatus: 401 } as const;
    await fixture.settle(id, { kind: 'failed', next: 'park', error, maybeSent: false });
  }
  assert.equal(await completeAlerts(fixture.store, fixture.epoch, [learned(fixture)]), 0);
});

test('the status of the pod that failed: how it ended, or what it waits for', () => {
  const attempt = (changes: Partial<Attempt>): Attempt => ({
    pod: 'p',
    node: 'n',
    phase: 'Failed',
    reason: undefined,
    index: undefined,
    startedAt: undefined,
    endedAt: undefined,
    containers: [],
    ...changes,
  });
  const container = { name: 'c', init: false, message: undefined, restarts: 2, imageId: undefined };
  const ended = { ...container, exitCode: 137, reason: 'OOMKilled' };
  const waits = { ...container, exitCode: undefined, reason: 'ImagePullBackOff' };
  assert.equal(podStatusOf([]), undefined);
  assert.deepEqual(podStatusOf([attempt({ containers: [ended] }), attempt({ phase: 'Succeeded' })]), {
    phase: 'Failed',
    reason: 'OOMKilled',
    node: 'n',
    restarts: 2,
    waiting: null,
  });
  assert.deepEqual(podStatusOf([attempt({ phase: 'Pending', node: undefined, containers: [ended, waits] })]), {
    phase: 'Pending',
    reason: null,
    node: null,
    restarts: 4,
    waiting: 'ImagePullBackOff',
  });
  assert.equal(podStatusOf([attempt({ reason: 'Evicted', containers: [ended] })])?.reason, 'Evicted');
});
