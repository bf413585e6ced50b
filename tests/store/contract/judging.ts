import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { AlertState, AlertSubject, AlertType } from '@cronjob-monitor/shared/contract';
import {
  countAlertsOfMonitor,
  findSilencesChangedAt,
  insertAlerts,
  listAlertRuns,
  listAlertsOfMonitor,
  listCronJobsSilenced,
  listCronJobsToJudge,
  listCronJobsWithAlerts,
  listDue,
  listJudgedCronJobs,
  projectMonitor,
  putDue,
  putSilence,
  recordRuns,
  setDue,
  setTargets,
  updateSilenceEnd,
  type Store,
} from '@cronjob-monitor/shared/store';
import { anAlert } from '../alert-facts.ts';
import { aRun, now, projected } from '../facts.ts';
import { contract } from '../suite.ts';

/** A monitor that selects these CronJobs. */
async function aWatcher(store: Store, epoch: number, uids: readonly string[]): Promise<{ id: number; uid: string }> {
  const uid = randomUUID();
  const { id } = await store.fenced(epoch, (tx) =>
    projectMonitor(tx, {
      uid,
      namespace: 'prod',
      name: `watcher-${uid.slice(0, 8)}`,
      generation: 1,
      createdAt: now,
      spec: {},
      phase: 'Active',
      conditions: [],
      counts: null,
      evaluatedAt: now,
    }),
  );
  const targets = uids.map((cronJobUid) => ({ cronJobUid, leading: true }));
  await store.fenced(epoch, (tx) => setTargets(tx, uid, targets, now));
  return { id, uid };
}

export const judging = contract('what verdicts ask', (test) => {
  test('a CronJob is told with every monitor that selects it or did', async ({ store, epoch }) => {
    const facts = await projected(store, epoch);
    const { id } = facts;
    const stays = await aWatcher(store, epoch, [facts.uid]);
    const leaves = await aWatcher(store, epoch, [facts.uid]);
    await store.fenced(epoch, (tx) => setTargets(tx, leaves.uid, [], now + 5));
    const [judged] = await listJudgedCronJobs(store, [id, 999_999_999]);
    assert.deepEqual([judged?.uid, judged?.name, judged?.deletedAt], [facts.uid, facts.name, undefined]);
    assert.deepEqual(
      judged?.monitors.map(({ id: monitorId, id16, selects, isDeleted, judgesFromAt }) => ({
        monitorId,
        id16,
        selects,
        isDeleted,
        judgesFromAt,
      })),
      [
        { monitorId: stays.id, id16: stays.uid, selects: true, isDeleted: false, judgesFromAt: now },
        { monitorId: leaves.id, id16: leaves.uid, selects: false, isDeleted: false, judgesFromAt: now },
      ],
    );
  });

  test('those to be judged are selected, or something is open about them', async ({ store, epoch }) => {
    const selected = await projected(store, epoch);
    const alerted = await projected(store, epoch);
    const neither = await projected(store, epoch);
    await aWatcher(store, epoch, [selected.uid]);
    await store.fenced(epoch, (tx) => insertAlerts(tx, [anAlert(alerted.id, now)]));
    await store.fenced(epoch, (tx) => insertAlerts(tx, [anAlert(neither.id, now, { state: 'resolved' })]));
    const ids = await listCronJobsToJudge(store);
    assert.deepEqual(
      [selected, alerted, neither].map(({ id }) => ids.includes(id)),
      [true, true, false],
    );
    const shares = await Promise.all(
      [0, 1, 2].map((remainder) => listCronJobsToJudge(store, { of: 3, remainders: [remainder] })),
    );
    assert.deepEqual(
      shares.map((share) => share.every((one, at) => ids.includes(one) && (at === 0 || one > Number(share[at - 1])))),
      [true, true, true],
    );
    assert.deepEqual(
      shares.flat().toSorted((a, b) => a - b),
      ids,
      'each is in one share of three',
    );
    assert.equal(shares[selected.id % 3]?.includes(selected.id), true);
    assert.deepEqual(await listCronJobsToJudge(store, { of: 3, remainders: [0, 1, 2] }), ids);
  });

  test('live alerts are found by their types', async ({ store, epoch }) => {
    const { id } = await projected(store, epoch);
    const of = (type: AlertType, state: AlertState, subject?: AlertSubject) =>
      store.fenced(epoch, (tx) => insertAlerts(tx, [anAlert(id, now, { type, state, subject })]));
    await of('jobStuck', 'pending', 'notStarted');
    await of('missedSchedule', 'cancelled');
    assert.equal((await listCronJobsWithAlerts(store, ['jobStuck', 'jobFailed'])).includes(id), true);
    assert.equal((await listCronJobsWithAlerts(store, ['missedSchedule'])).includes(id), false);
  });

  test('the alerts of a monitor are those that hold, with what its status shows', async ({ store, epoch }) => {
    const facts = await projected(store, epoch);
    const { id } = facts;
    const { id: monitorId, uid } = await aWatcher(store, epoch, [facts.uid]);
    const more = { monitorId, context: { jobName: 'j', exitCode: 3, reason: 'Error' }, lastNotifiedAt: now + 1 };
    await store.fenced(epoch, async (tx) => {
      await insertAlerts(tx, [anAlert(id, now, more)]);
      await insertAlerts(tx, [anAlert(id, now, { ...more, type: 'jobStuck', state: 'suppressed' })]);
      await insertAlerts(tx, [anAlert(id, now, { ...more, type: 'jobSuspended', state: 'pending' })]);
    });
    assert.equal(await countAlertsOfMonitor(store, uid), 2);
    const [first] = (await listAlertsOfMonitor(store, uid, [id])).filter(({ type }) => type === 'jobFailed');
    assert.deepEqual([first?.exitCode, first?.reason, first?.lastNotifiedAt], [3, 'Error', now + 1]);
    assert.deepEqual(await listAlertsOfMonitor(store, uid, []), []);
  });

  test('only instants that differ are written, and those that are not wished go', async ({ store, epoch }) => {
    const { id } = await projected(store, epoch);
    const at = (kind: string, instant: number | undefined) => ({ cronJobId: id, monitorId: 5, kind, at: instant });
    const found = async () =>
      (await listDue(store, Number.MAX_SAFE_INTEGER, 10_000))
        .filter(({ cronJobId }) => cronJobId === id)
        .map(({ kind, at: instant }) => [kind, instant]);
    await store.fenced(epoch, (tx) => setDue(tx, [at('presence', 500), at('finishBy', 700)]));
    assert.deepEqual(await found(), [
      ['presence', 500],
      ['finishBy', 700],
    ]);
    await store.fenced(epoch, (tx) => setDue(tx, [at('presence', 900)], true));
    assert.deepEqual((await found())[0], ['presence', 500], 'a later one waits');
    await store.fenced(epoch, (tx) => setDue(tx, [at('presence', 100), at('finishBy', undefined)], true));
    assert.deepEqual(await found(), [
      ['presence', 100],
      ['finishBy', 700],
    ]);
    await store.fenced(epoch, (tx) => setDue(tx, [at('presence', 300), at('finishBy', undefined)]));
    assert.deepEqual(await found(), [['presence', 300]]);
  });

  test('what is due is found by its kind', async ({ store, epoch }) => {
    const { id } = await projected(store, epoch);
    const of = (kind: string) => ({ cronJobId: id, monitorId: 0, kind, ref: '', at: 10 });
    await store.fenced(epoch, (tx) => putDue(tx, [of('slots'), of('finishBy')]));
    const kinds = (await listDue(store, 10, 1_000, ['slots', 'presence']))
      .filter(({ cronJobId }) => cronJobId === id)
      .map(({ kind }) => kind);
    assert.deepEqual(kinds, ['slots']);
  });

  test('a recorded run is told as alerts speak of it', async ({ store, epoch }) => {
    const facts = await projected(store, epoch);
    const run = aRun(facts, { status: 'failed', exitCode: 137, reason: 'OOMKilled', attempts: 3 });
    await recordRuns(store, epoch, [run]);
    const told = (await listAlertRuns(store, [run.jobUid, randomUUID()])).get(run.jobUid);
    assert.deepEqual(
      [told?.jobName, told?.exitCode, told?.reason, told?.attempts, told?.scheduledAt],
      [run.jobName, 137, 'OOMKilled', 3, run.scheduledAt],
    );
  });

  test('what follows from a run is written with it, and not at all when that fails', async ({ store, epoch }) => {
    const facts = await projected(store, epoch);
    const { id } = facts;
    const run = aRun(facts);
    const failing = recordRuns(store, epoch, [run], () => Promise.reject(new Error('no verdict')));
    await assert.rejects(failing, /no verdict/);
    const counted: number[] = [];
    const recorded = await recordRuns(store, epoch, [run], async (_tx, rows) => {
      counted.push(...rows.map(({ cronJobId }) => cronJobId));
    });
    assert.deepEqual([recorded.inserted, counted], [[run.jobUid], [id]]);
    await recordRuns(store, epoch, [run], () => Promise.reject(new Error('asked about a replay')));
  });

  test('a silence that is made or ended early is noticed by when silences last changed', async ({ store, epoch }) => {
    const { id } = await projected(store, epoch);
    const muted = { state: 'suppressed', suppressedBy: 'silence', suppressedRef: 's' } as const;
    await store.fenced(epoch, (tx) => insertAlerts(tx, [anAlert(id, now, muted)]));
    assert.equal((await listCronJobsSilenced(store)).includes(id), true);
    const silenceId = randomUUID();
    const matcher = {
      namespaces: [],
      cronjobs: [],
      types: [],
      severities: [],
      monitor: null,
      alertId: null,
      all: true,
    };
    const silence = {
      id: silenceId,
      matcher,
      startsAt: now,
      endsAt: now + 90_000_000,
      untilResolved: false,
      comment: 'c',
      createdBy: 'ana',
      createdAt: now + 50_000_000,
      updatedAt: now + 50_000_000,
      endedAt: undefined,
    };
    await store.fenced(epoch, (tx) => putSilence(tx, silence));
    assert.equal(await findSilencesChangedAt(store), now + 50_000_000);
    await store.fenced(epoch, (tx) => updateSilenceEnd(tx, silenceId, now + 60_000_000));
    assert.equal(await findSilencesChangedAt(store), now + 60_000_000);
  });
});
