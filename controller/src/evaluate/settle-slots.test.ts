import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  type CronJobFacts,
  type Instant,
  type JobFacts,
  type JobSnapshot,
  minuteMs,
} from '@cronjob-monitor/shared/domain';
import {
  listDue,
  listLedgers,
  listRecentSlots,
  listSlots,
  lockCronJobs,
  migrate,
  openStore,
  projectCronJob,
  recordRuns,
  recordSlots,
  type Store,
  takeEpoch,
} from '@cronjob-monitor/shared/store';
import { aCronJob, aJob, aRecordedRun, FakeClock, RecordingLogger } from '@cronjob-monitor/shared/testing';
import { gatherPresence } from './presence-facts.ts';
import { type LedgerDeps, type Settled, settleSlots } from './settle-slots.ts';
import type { Subject, Watch } from './subject.ts';
import { WatchGaps } from './watch-gaps.ts';
import { StartSkew, ZoneCheck } from './observed-starts.ts';

const startAt = Date.parse('2026-03-02T00:10:00Z');
const at = (clock: string): Instant => Date.parse(`2026-03-02T${clock}Z`);

const folder = mkdtempSync(join(tmpdir(), 'settle-'));
const clock = new FakeClock(startAt);
const logger = new RecordingLogger();
let store: Store;
let epoch = 0;
let made = 0;
before(async () => {
  store = openStore({ type: 'sqlite', path: join(folder, 'monitor.db') }, { clock, log: logger });
  await migrate(store, { version: 'test' });
  epoch = await takeEpoch(store, 'test');
});
after(async () => {
  await store.close();
  rmSync(folder, { recursive: true, force: true });
});

/** One CronJob with what memory holds of it, and the ledger around them. */
class Bench {
  readonly jobs: JobFacts[] = [];
  readonly unrecorded: JobSnapshot[] = [];
  cronJob: CronJobFacts | undefined;
  readonly id: number;
  readonly deps: LedgerDeps;

  constructor(id: number, cronJob: CronJobFacts, gaps: WatchGaps, more: Partial<LedgerDeps>) {
    this.id = id;
    this.cronJob = cronJob;
    this.deps = {
      gaps,
      startSkew: new StartSkew(),
      zones: new ZoneCheck('UTC'),
      defaultZone: 'UTC',
      findCronJob: () => this.cronJob,
      isMonitored: () => true,
      jobsOf: () => this.jobs,
      unrecorded: () => this.unrecorded,
      namespaceDeletingAt: () => undefined,
      isSpecPending: () => false,
      graceMsOf: () => 2 * minuteMs,
      isExcluded: () => false,
      freshThroughAt: () => clock.now(),
      newestStartAt: () => clock.now(),
      ...more,
    };
  }

  async settle(now: Instant, deps: Partial<LedgerDeps> = {}): Promise<Settled> {
    clock.stepWall(now - clock.now());
    const settled = await store.fenced(epoch, async (tx) => {
      await lockCronJobs(tx, [this.id]);
      return settleSlots(tx, [this.id], { ...this.deps, ...deps }, now);
    });
    const own = settled.get(this.id);
    assert.ok(own);
    return own;
  }

  async slots(): Promise<[string, string, string | undefined][]> {
    const filter = { cronJobIds: [this.id], since: 0, until: at('23:59:59'), outcomes: [], lateAfterMs: minuteMs };
    const found = await listSlots(store, filter, { descending: false, page: { limit: 100, offset: 0 } });
    return found.map((slot) => [new Date(slot.at).toISOString().slice(11, 16), slot.outcome, slot.cause]);
  }
}

async function bench(facts: Partial<CronJobFacts> = {}, more: Partial<LedgerDeps> = {}): Promise<Bench> {
  clock.stepWall(startAt - clock.now());
  const name = `job-${++made}`;
  const cronJob = aCronJob({
    uid: `00000000-0000-4000-8000-${String(made).padStart(12, '0')}`,
    name,
    schedule: '0 * * * *',
    createdAt: at('00:00:00'),
    lastScheduleAt: undefined,
    ...facts,
  });
  const { id } = await store.fenced(epoch, (tx) => projectCronJob(tx, { facts: cronJob, seenAt: startAt }));
  const sight = { sinceAt: 0, blindSpans: [], generationOf: () => undefined };
  return new Bench(id, cronJob, await WatchGaps.open({ store, epoch, logger }, sight), more);
}

const job = (of: Bench, slotAt: Instant, changes: Partial<JobFacts> = {}): JobFacts =>
  aJob({
    uid: `${of.cronJob?.uid}-${slotAt}`,
    cronJobUid: of.cronJob?.uid ?? '',
    cronJobName: of.cronJob?.name ?? '',
    name: `${of.cronJob?.name}-${slotAt / minuteMs}`,
    slotAt,
    createdAt: slotAt,
    ...changes,
  });

test('a run that did not come is missed after its grace, and its due instant leads from slot to slot', async () => {
  const of = await bench();
  assert.deepEqual(await of.settle(at('00:30:00')), {
    dueAt: at('01:02:00'),
    moved: false,
    inferred: [],
    outcomes: [],
  });
  assert.deepEqual(await listDue(store, at('01:02:00'), 1, ['slots']), [
    { cronJobId: of.id, monitorId: 0, kind: 'slots', ref: '', at: at('01:02:00') },
  ]);
  assert.equal((await of.settle(at('01:01:59'))).moved, false);
  const settled = await of.settle(at('01:02:00'));
  assert.deepEqual([settled.moved, settled.dueAt], [true, at('02:02:00')]);
  assert.deepEqual(await of.slots(), [['01:00', 'missed', undefined]]);
  assert.equal((await of.settle(at('01:02:00'))).moved, false, 'a repetition finds nothing left to do');
});

test('a run in memory answers its slot as one in the store does', async () => {
  const of = await bench();
  of.jobs.push(job(of, at('01:00:00')));
  const ended = job(of, at('02:00:00'), { outcome: 'success', endedAt: at('02:01:00') });
  of.unrecorded.push({ job: ended, gone: { at: at('02:01:01'), seen: true } });
  await of.settle(at('02:30:00'));
  assert.deepEqual(await of.slots(), []);
  const recent = await listRecentSlots(store, [of.id], 5);
  assert.equal(recent.size, 0, 'neither is recorded yet');
});

test('each judged slot is told once, whether a run answered it or not, and none of what is found at first sight', async () => {
  const of = await bench();
  of.jobs.push(job(of, at('01:00:00')), job(of, at('02:00:00'), { createdAt: at('02:01:01') }));
  await of.settle(at('00:30:00'));
  assert.deepEqual((await of.settle(at('03:02:00'))).outcomes, ['missed', 'matched', 'late']);
  assert.deepEqual((await of.settle(at('03:02:00'))).outcomes, []);
  assert.deepEqual((await (await bench()).settle(at('05:00:00'))).outcomes, []);
});

test('of a CronJob whose edit is not written down yet nothing is judged', async () => {
  const of = await bench();
  of.cronJob = { ...(of.cronJob as CronJobFacts), suspended: true };
  assert.equal((await of.settle(at('05:00:00'))).moved, false);
  assert.deepEqual(await of.slots(), []);
  const pending = await bench({}, { isSpecPending: () => true });
  assert.equal((await pending.settle(at('05:00:00'))).moved, false);
});

test('of one that no monitor selects nothing is judged, and nothing is due', async () => {
  const of = await bench();
  await of.settle(at('00:30:00'));
  const settled = await of.settle(at('05:00:00'), { isMonitored: () => false });
  assert.deepEqual(settled, { dueAt: undefined, moved: false, inferred: [], outcomes: [] });
  assert.ok((await listDue(store, Number.MAX_SAFE_INTEGER, 100, ['slots'])).every((due) => due.cronJobId !== of.id));
});

test('of one that was deleted only what came before is judged', async () => {
  const of = await bench();
  await of.settle(at('00:30:00'));
  await of.settle(at('05:00:00'), {
    findCronJob: () => ({ ...(of.cronJob as CronJobFacts), deletingAt: at('02:30:00') }),
  });
  assert.deepEqual(
    (await of.slots()).map(([slot]) => slot),
    ['01:00', '02:00'],
  );
});

test('absence is not judged beyond what was seen', async () => {
  const of = await bench();
  await of.settle(at('05:00:00'), { freshThroughAt: () => at('02:01:00') });
  assert.deepEqual(await of.slots(), [['01:00', 'missed', undefined]]);
  assert.equal((await listLedgers(store, [of.id])).get(of.id)?.evaluatedThroughAt, at('02:00:00') - 1);
});

test('a missed run has the cause that events tell, else that nothing was started anywhere', async () => {
  const of = await bench();
  const message =
    'Error creating job: jobs.batch "nightly-1" is forbidden: exceeded quota: jobs, requested: count/jobs.batch=1';
  const told = { cause: 'createRejected', message } as const;
  await of.settle(at('02:30:00'), {
    causeOf: (_uid, slotAt) => (slotAt === at('01:00:00') ? told : undefined),
    newestStartAt: () => at('01:30:00'),
  });
  await of.settle(at('03:30:00'), { newestStartAt: () => at('03:00:00') });
  assert.deepEqual(await of.slots(), [
    ['01:00', 'missed', 'createRejected'],
    ['02:00', 'missed', 'controllerSilent'],
    ['03:00', 'missed', undefined],
  ]);
  const subject = { row: { id: of.id, namespace: 'prod' }, watches: [], zone: 'UTC' } as unknown as Subject;
  const watch = { judgesFromAt: 0, rules: { detection: { pauseMonitoring: true } } } as unknown as Watch;
  const none = { jobsOf: () => [], defaultZone: 'UTC' };
  const presence = await store.fenced(epoch, (tx) => gatherPresence(tx, [subject], new Set(['missedSchedule']), none));
  const { slots = [] } = presence(subject, watch).present.missedSchedule ?? {};
  assert.deepEqual(
    slots.map(({ fault }) => fault),
    [undefined, { cause: 'platform', scope: 'cluster' }, { cause: 'capacity', scope: 'namespace prod' }],
  );
  assert.deepEqual(
    slots.map(({ refusal }) => refusal),
    [undefined, undefined, message],
    'a message about it names what the cluster said',
  );
});

test('a rule that opens after many skipped runs is given so many, and one that opens after few as many as before', async () => {
  const of = await bench();
  const slots = Array.from({ length: 70 }, (_, index) => ({
    cronJobId: of.id,
    at: startAt + index * minuteMs,
    outcome: 'skippedForbid' as const,
    cause: 'previousRunning' as const,
    message: undefined,
    epochAt: startAt,
    inMaintenance: false,
  }));
  await store.fenced(epoch, (tx) => recordSlots(tx, slots));
  const knownTo = async (skipWarnAfter: number | undefined) => {
    const detection = { pauseMonitoring: true, missedSchedule: { enabled: true, threshold: 1, skipWarnAfter } };
    const watch = { judgesFromAt: 0, rules: { detection } } as unknown as Watch;
    const subject = { row: { id: of.id, namespace: 'prod' }, watches: [watch], zone: 'UTC' } as unknown as Subject;
    const none = { jobsOf: () => [], defaultZone: 'UTC' };
    const presence = await store.fenced(epoch, (tx) =>
      gatherPresence(tx, [subject], new Set(['missedSchedule']), none),
    );
    return presence(subject, watch).present.missedSchedule?.slots.length;
  };
  assert.equal(await knownTo(60), 61);
  assert.equal(await knownTo(3), 50);
  assert.equal(await knownTo(undefined), 50);
});

test('nothing is written of a missed run while events that may explain it are being read', async () => {
  const of = await bench();
  await of.settle(at('00:30:00'));
  const asked: Instant[] = [];
  const reading = { isRead: false };
  const deps = {
    awaitsCause: (_uid: string, slotAt: Instant) => {
      asked.push(slotAt);
      return !reading.isRead;
    },
    causeOf: () => (reading.isRead ? ({ cause: 'deadlinePassed' } as const) : undefined),
  };
  const waiting = await of.settle(at('02:05:00'), deps);
  assert.deepEqual([waiting.moved, waiting.dueAt, waiting.outcomes], [false, at('02:05:01'), []]);
  assert.deepEqual(await of.slots(), []);
  reading.isRead = true;
  assert.equal((await of.settle(at('02:05:01'), deps)).moved, true);
  assert.deepEqual(asked, [at('02:00:00'), at('02:00:00')]);
  assert.deepEqual(
    (await of.slots()).map(([, , cause]) => cause),
    ['deadlinePassed', 'deadlinePassed'],
  );
});

test('a slot that waits for a run is looked at again within minutes, and holds back the watermark', async () => {
  const of = await bench({ policy: 'Forbid' });
  of.jobs.push(job(of, at('01:00:00')));
  const settled = await of.settle(at('02:10:00'));
  assert.equal(settled.dueAt, at('02:15:00'));
  const ledger = (await listLedgers(store, [of.id])).get(of.id);
  assert.deepEqual([ledger?.waitingSlotAt, ledger?.evaluatedThroughAt], [at('02:00:00'), at('02:00:00') - 1]);
});

test('a success that only lastSuccessfulTime tells of is recorded once', async () => {
  const of = await bench();
  await of.settle(at('00:30:00'));
  of.deps.gaps.noteBlind({ fromAt: at('00:50:00'), toAt: at('03:30:00') });
  of.cronJob = {
    ...(of.cronJob as CronJobFacts),
    lastScheduleAt: at('03:00:00'),
    lastSuccessAt: at('03:00:40'),
  };
  const settled = await of.settle(at('03:31:00'));
  assert.deepEqual(
    settled.inferred.map(({ status, scheduledAt, finishedAt, inferred }) => [
      status,
      scheduledAt,
      finishedAt,
      inferred,
    ]),
    [['success', at('03:00:00'), at('03:00:40'), true]],
  );
  assert.deepEqual(await of.slots(), [
    ['01:00', 'unobserved', 'monitorDown'],
    ['02:00', 'unobserved', 'monitorDown'],
    ['03:00', 'matched', undefined],
  ]);
  assert.equal((await of.settle(at('03:32:00'))).inferred.length, 0);
});

test('a success whose Job is there, or is not that of the newest slot, answers no slot', async () => {
  const of = await bench();
  await of.settle(at('00:30:00'));
  of.deps.gaps.noteBlind({ fromAt: at('00:50:00'), toAt: at('03:30:00') });
  const late = job(of, at('01:00:00'), { outcome: 'success', endedAt: at('03:10:00') });
  of.jobs.push(late);
  of.cronJob = { ...(of.cronJob as CronJobFacts), lastScheduleAt: at('03:00:00'), lastSuccessAt: at('03:10:00') };
  const { inferred } = await of.settle(at('03:31:00'));
  assert.deepEqual(
    inferred.map(({ status, scheduledAt }) => [status, scheduledAt]),
    [['unobserved', at('03:00:00')]],
  );
});

test('a run that comes late takes the place of the missed slot', async () => {
  const of = await bench();
  await of.settle(at('01:05:00'));
  const late = job(of, at('01:00:00'), { createdAt: at('01:06:00'), outcome: 'success', endedAt: at('01:07:00') });
  const owner = { uid: late.cronJobUid, namespace: late.namespace, name: late.cronJobName };
  const { uid, name: jobName, createdAt, endedAt } = late;
  const slot = { scheduledAt: at('01:00:00'), finishedAt: endedAt };
  await recordRuns(store, epoch, [aRecordedRun(owner, createdAt, { jobUid: uid, jobName, ...slot })]);
  assert.deepEqual(await of.slots(), [['01:00', 'late', undefined]]);
});

test('intervals count from the last start, also when the process that saw it is gone', async () => {
  const of = await bench({ schedule: '@every 90m', lastScheduleAt: at('00:05:00') });
  await of.settle(at('00:30:00'));
  of.jobs.push(job(of, at('01:35:00')));
  of.cronJob = { ...(of.cronJob as CronJobFacts), lastScheduleAt: at('01:35:00') };
  await of.settle(at('02:00:00'));
  of.jobs.length = 0;
  await of.settle(at('06:10:00'));
  assert.deepEqual(
    (await of.slots()).map(([slot]) => slot),
    ['03:05', '04:35', '06:05'],
  );
});

test('a zone that does not fit makes slots indeterminate, once five starts have shown it', async () => {
  const zones = new ZoneCheck('UTC');
  for (let day = 0; day < 5; day++)
    zones.observe({ schedule: '0 9 * * *', slotAt: at('07:00:00') + day * 24 * 60 * minuteMs });
  const of = await bench({ schedule: '0 3 * * *' }, { zones });
  await of.settle(at('03:30:00'));
  assert.deepEqual(await of.slots(), [['03:00', 'indeterminate', 'specUncertain']]);
  assert.deepEqual((await ZoneCheck.load(store, 'UTC')).mismatch?.offsetMs, -2 * 60 * minuteMs, 'kept');
  assert.equal((await ZoneCheck.load(store, 'Europe/Berlin')).mismatch, undefined, 'of another zone than before');
  const own = await bench({ schedule: '0 3 * * *', timeZone: 'Etc/UTC' }, { zones });
  await own.settle(at('03:30:00'));
  assert.deepEqual(await own.slots(), [['03:00', 'missed', undefined]], 'its zone is its own');
});
