import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import {
  listAcknowledgements,
  findLastHold,
  findSilence,
  insertAlerts,
  listDecisions,
  listAlertsWithExpiredNote,
  listDue,
  listDueAlerts,
  listLiveAlerts,
  listSilences,
  lockLastEndedAlerts,
  lockLiveAlerts,
  moveAlertCounters,
  movePendingDue,
  newId,
  putAcknowledgement,
  putDue,
  putSilence,
  recordDecisions,
  removeDue,
  StoreError,
  updateAcknowledgementEnd,
  updateAlert,
  updateSilenceEnd,
} from '@cronjob-monitor/shared/store';
import { anAlert } from '../alert-facts.ts';
import { now, projected } from '../facts.ts';
import { readNumber, readRows } from '../rows.ts';
import { contract } from '../suite.ts';
import { minuteMs } from '@cronjob-monitor/shared/domain';

export const alertRows = contract('alerts', (test) => {
  test('keep all that was written', async ({ store, epoch }) => {
    const cronJob = await projected(store, epoch);
    const whole = anAlert(cronJob.id, now, {
      type: 'slaBreached',
      subject: 'finishBy',
      state: 'suppressed',
      suppressedBy: 'silence',
      suppressedRef: 's',
      dueAt: now + 1,
      lastNotifiedAt: now - 1,
      signature: '1-125/Error',
      flips: [now - 2, now],
      flappingUntil: now + 9,
      quietCount: 1,
      reopened: 2,
      delayed: true,
      digestId: randomUUID(),
    });
    await store.fenced(epoch, (tx) => insertAlerts(tx, [whole]));
    assert.deepEqual(await listLiveAlerts(store, [cronJob.id]), [whole]);
    const changed = { ...whole, state: 'active', suppressedBy: undefined, suppressedRef: undefined, count: 7 } as const;
    await store.fenced(epoch, (tx) => updateAlert(tx, changed));
    const live = await store.fenced(epoch, (tx) => lockLiveAlerts(tx, [whole.fingerprint, randomUUID()]));
    assert.deepEqual([...live], [[whole.fingerprint, changed]]);
  });

  test('live at most once by identity, and end any number of times', async ({ store, epoch }) => {
    const cronJob = await projected(store, epoch);
    const first = anAlert(cronJob.id, now);
    const second = anAlert(cronJob.id, now + 1, { fingerprint: first.fingerprint });
    await store.fenced(epoch, (tx) => insertAlerts(tx, [first]));
    await assert.rejects(
      store.fenced(epoch, (tx) => insertAlerts(tx, [second])),
      StoreError,
    );
    const over = { state: 'resolved', endedAt: now } as const;
    await store.fenced(epoch, async (tx) => {
      await updateAlert(tx, { ...first, ...over });
      await insertAlerts(tx, [{ ...second, ...over }]);
      assert.equal((await lockLiveAlerts(tx, [first.fingerprint])).size, 0);
      const ended = await lockLastEndedAlerts(tx, [first.fingerprint, randomUUID()]);
      assert.deepEqual(
        [...ended].map(([fingerprint, { id }]) => [fingerprint, id]),
        [[first.fingerprint, second.id]],
      );
    });
  });

  test('are listed when their instant has come, the most overdue first', async ({ store, epoch }) => {
    const cronJob = await projected(store, epoch);
    const far = now - 1_000_000_000;
    const alerts = [far + 5, far + 3, far + 9].map((dueAt) => anAlert(cronJob.id, now, { state: 'pending', dueAt }));
    await store.fenced(epoch, async (tx) => {
      for (const alert of alerts) await insertAlerts(tx, [alert]);
      await insertAlerts(tx, [anAlert(cronJob.id, now, { state: 'cancelled', dueAt: far })]);
    });
    const due = await listDueAlerts(store, far + 5, 10);
    assert.deepEqual(
      due.map(({ dueAt }) => dueAt),
      [far + 3, far + 5],
    );
    assert.equal((await listDueAlerts(store, far + 5, 1)).length, 1);
  });

  test('move the figures on the row of their CronJob, and tell of it once', async ({ store, epoch }) => {
    const cronJob = await projected(store, epoch);
    const figures = async (): Promise<unknown> =>
      (
        await readRows(store, 'select worst_severity, active_alerts, held_alerts from cronjobs where id = ?', [
          cronJob.id,
        ])
      ).map((row) => Object.values(row).map((value) => (typeof value === 'string' ? value : (value ?? null))))[0];
    const told = (): Promise<number> =>
      readNumber(store, "select count(*) as n from changes where kind = 'cronjob' and data like ?", [
        `%"${cronJob.name}"%`,
      ]);
    const before = await told();
    await store.fenced(epoch, async (tx) => {
      await insertAlerts(tx, [anAlert(cronJob.id, now)]);
      await insertAlerts(tx, [anAlert(cronJob.id, now, { severity: 'critical', state: 'suppressed' })]);
      await insertAlerts(tx, [anAlert(cronJob.id, now, { severity: 'critical', state: 'pending' })]);
      await moveAlertCounters(tx, [cronJob.id]);
    });
    assert.deepEqual(await figures(), ['critical', 1, 2]);
    await store.fenced(epoch, (tx) => moveAlertCounters(tx, [cronJob.id]));
    assert.equal((await told()) - before, 1);
    await store.fenced(epoch, async (tx) => {
      for (const alert of await listLiveAlerts(tx, [cronJob.id])) {
        await updateAlert(tx, { ...alert, state: alert.state === 'pending' ? 'pending' : 'cancelled' });
      }
      await moveAlertCounters(tx, [cronJob.id]);
    });
    assert.deepEqual(await figures(), [null, 0, 1], 'a pending one is not told, it is no health yet');
  });
});

export const ledger = contract('ledger', (test) => {
  test('counts equal neighbours in one row, and no others', async ({ store, epoch }) => {
    const alertId = newId(now);
    const duplicate = { alertId, action: 'occurrence', reason: 'duplicate' } as const;
    await store.fenced(epoch, (tx) =>
      recordDecisions(tx, [
        { alertId, action: 'detected' },
        duplicate,
        { ...duplicate, untilAt: now + 5 },
        { alertId, action: 'held', reason: 'storm', detail: 'x' },
        { alertId, action: 'held', reason: 'storm', detail: 'x', once: true },
        duplicate,
        { alertId: newId(now), action: 'detected' },
      ]),
    );
    assert.deepEqual(
      (await listDecisions(store, alertId)).map(({ action, reason, times, untilAt }) => [
        action,
        reason,
        times,
        untilAt,
      ]),
      [
        ['detected', undefined, 1, undefined],
        ['occurrence', 'duplicate', 2, now + 5],
        ['held', 'storm', 1, undefined],
        ['occurrence', 'duplicate', 1, undefined],
      ],
    );
    assert.equal((await findLastHold(store, alertId))?.reason, 'storm');
    assert.equal(await findLastHold(store, newId(now)), undefined);
  });

  test('counts onto what an earlier transaction wrote, several alerts at once', async ({ store, epoch }) => {
    const [one, two, three] = [newId(now), newId(now), newId(now)];
    const held = (alertId: string, untilAt: number) =>
      ({ alertId, action: 'rateLimited', reason: 'channel', untilAt }) as const;
    const record = (...decisions: Parameters<typeof recordDecisions>[1]) =>
      store.fenced(epoch, (tx) => recordDecisions(tx, decisions));
    await record(held(one, now + 1), held(two, now + 1));
    await record(held(one, now + 2), held(two, now + 3), held(three, now + 4), held(two, now + 5));
    const timesOf = async (alertId: string) =>
      (await listDecisions(store, alertId)).map(({ times, untilAt }) => [times, untilAt]);
    assert.deepEqual(await timesOf(one), [[2, now + 2]]);
    assert.deepEqual(await timesOf(two), [[3, now + 5]]);
    assert.deepEqual(await timesOf(three), [[1, now + 4]]);
  });

  test('keeps whom and what a decision is about', async ({ store, epoch }) => {
    const decision = {
      alertId: newId(now),
      deliveryId: newId(now),
      cronJobId: 5,
      channelUid: randomUUID(),
      action: 'redriven',
      reason: 'r',
      untilAt: now,
      byWhom: 'ana',
      detail: 'd',
    } as const;
    await store.fenced(epoch, (tx) => recordDecisions(tx, [decision]));
    const [kept] = await listDecisions(store, decision.alertId);
    const { id, at, lastAt, times, ...rest } = kept ?? {};
    assert.deepEqual(rest, decision);
    assert.deepEqual([typeof id, at, times], ['number', lastAt, 1]);
  });
});

export const saidByPeople = contract('silences, acknowledgements, due instants', (test) => {
  test('a silence is kept, changed, and ended once', async ({ store }) => {
    const at = store.now();
    const matcher = {
      namespaces: ['prod'],
      cronjobs: [],
      types: [],
      severities: [],
      monitor: null,
      alertId: null,
      all: false,
    };
    const silence = {
      id: newId(at),
      matcher,
      startsAt: at - 5,
      endsAt: at + minuteMs,
      untilResolved: true,
      comment: 'storage move',
      createdBy: 'ana',
      createdAt: at,
      updatedAt: at,
      endedAt: undefined,
    };
    await store.transaction((tx) => putSilence(tx, silence));
    assert.deepEqual(await findSilence(store, silence.id), silence);
    await store.transaction((tx) => putSilence(tx, { ...silence, comment: 'longer', createdBy: 'bob' }));
    assert.deepEqual(await listSilences(store, at), [{ ...silence, comment: 'longer' }]);
    assert.deepEqual(await listSilences(store, silence.endsAt), []);
    const end = (): Promise<boolean> => store.transaction((tx) => updateSilenceEnd(tx, silence.id, at));
    assert.deepEqual([await end(), await end()], [true, false]);
    assert.deepEqual(await listSilences(store, at), []);
    const states = await readRows(store, "select data from changes where kind = 'silence' order by id");
    assert.deepEqual(
      states.map(({ data }) => (JSON.parse(String(data)) as { state: string }).state),
      ['active', 'active', 'expired'],
    );
  });

  test('a note taken of an alert is replaced by the next, and ends once', async ({ store }) => {
    const alertId = newId(now);
    const note = { byWhom: 'ana', at: now, note: 'looking', expiresAt: now + 5 };
    await store.transaction((tx) => putAcknowledgement(tx, alertId, note));
    assert.deepEqual((await listAcknowledgements(store, [alertId])).get(alertId), note);
    const end = (): Promise<boolean> => store.transaction((tx) => updateAcknowledgementEnd(tx, alertId, now));
    assert.deepEqual([await end(), await end()], [true, false]);
    assert.equal((await listAcknowledgements(store, [alertId])).get(alertId), undefined);
    const again = { byWhom: 'bob', at: now + 1, note: undefined, expiresAt: undefined };
    await store.transaction((tx) => putAcknowledgement(tx, alertId, again));
    assert.deepEqual((await listAcknowledgements(store, [alertId])).get(alertId), again);
  });

  test('the ends of delays are moved, and of nothing else', async ({ store, epoch }) => {
    const cronJob = await projected(store, epoch);
    const pending = anAlert(cronJob.id, now, { state: 'pending', dueAt: now + 5 });
    const held = anAlert(cronJob.id, now + 1, { dueAt: now + 5 });
    await store.fenced(epoch, async (tx) => {
      await insertAlerts(tx, [pending]);
      await insertAlerts(tx, [held]);
      await movePendingDue(tx, -3);
    });
    const live = await listLiveAlerts(store, [cronJob.id]);
    assert.deepEqual(
      live.map(({ dueAt }) => dueAt),
      [now + 2, now + 5],
    );
  });

  test('the ends of delays of one monitor are moved, where the alert was found before', async ({ store, epoch }) => {
    const cronJob = await projected(store, epoch);
    const found = anAlert(cronJob.id, now, { state: 'pending', dueAt: now + 5, monitorId: 7 });
    const later = anAlert(cronJob.id, now + 1, {
      state: 'pending',
      dueAt: now + 6,
      monitorId: 7,
      type: 'missedSchedule',
    });
    const ofAnother = anAlert(cronJob.id, now, { state: 'pending', dueAt: now + 7, monitorId: 8 });
    await store.fenced(epoch, async (tx) => {
      for (const alert of [found, later, ofAnother]) await insertAlerts(tx, [alert]);
      await movePendingDue(tx, -3, { monitorId: 7, foundBefore: now + 1 });
    });
    const live = await listLiveAlerts(store, [cronJob.id]);
    assert.deepEqual(live.map(({ dueAt }) => dueAt).sort(), [now + 2, now + 6, now + 7]);
  });

  test('notes of live alerts are listed when they are over and were not ended', async ({ store, epoch }) => {
    const cronJob = await projected(store, epoch);
    const alerts = [
      anAlert(cronJob.id, now, { type: 'slaBreached', subject: 'finishBy' }),
      anAlert(cronJob.id, now, { state: 'resolved', endedAt: now }),
      anAlert(cronJob.id, now),
      anAlert(cronJob.id, now),
    ] as const;
    await store.fenced(epoch, async (tx) => {
      for (const [index, alert] of alerts.entries()) {
        await insertAlerts(tx, [alert]);
        const expiresAt = index === 2 ? now + 9 : now + 5;
        await putAcknowledgement(tx, alert.id, { byWhom: 'ana', at: now, note: undefined, expiresAt });
      }
      await updateAcknowledgementEnd(tx, alerts[3].id, now);
    });
    const expired = async (at: number) =>
      (await listAlertsWithExpiredNote(store, at)).filter(({ cronJobId }) => cronJobId === cronJob.id);
    assert.deepEqual(await expired(now + 4), []);
    assert.deepEqual(await expired(now + 5), [{ cronJobId: cronJob.id, type: 'slaBreached', subject: 'finishBy' }]);
  });

  test('an instant that is due is replaced by its next, listed by age, and removed', async ({ store, epoch }) => {
    const due = (kind: string, at: number, ref = '', cronJobId = 1) => ({ cronJobId, monitorId: 2, kind, ref, at });
    await store.fenced(epoch, (tx) =>
      putDue(tx, [due('slots', 9), due('jobStuck', 3, 'job'), due('slots', 4, '', 7), due('other', 50)]),
    );
    await store.fenced(epoch, (tx) => putDue(tx, [due('slots', 2)]));
    assert.deepEqual(await listDue(store, 10, 10), [
      due('slots', 2),
      due('jobStuck', 3, 'job'),
      due('slots', 4, '', 7),
    ]);
    assert.deepEqual(await listDue(store, 10, 1), [due('slots', 2)]);
    await store.fenced(epoch, async (tx) => {
      assert.equal(await removeDue(tx, [due('slots', 0), due('none', 0)]), 1);
    });
    assert.equal((await listDue(store, 100, 10)).length, 3);
  });
});
