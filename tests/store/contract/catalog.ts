import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import {
  cronJobIdsOf,
  forgetCronJob,
  listChanges,
  listCronJobMarks,
  listJudgedCronJobs,
  listOwnSettings,
  listWatchedSince,
  listSpecEpochs,
  projectCronJob,
  projectCronJobs,
} from '@cronjob-monitor/shared/store';
import { now, projected, seen, someCronJob } from '../facts.ts';
import { readNumber, readRows } from '../rows.ts';
import { contract } from '../suite.ts';
import { minuteMs } from '@cronjob-monitor/shared/domain';

export const cronJobs = contract('the catalog of CronJobs', (test) => {
  test('has one row a UID, and a second sight changes nothing', async ({ store, epoch }) => {
    const facts = someCronJob({
      labels: { team: 'data' },
      notes: { owner: 'ana' },
      deadlineS: 100,
      timeZone: 'Europe/Berlin',
    });
    const first = await store.fenced(epoch, (tx) => projectCronJob(tx, seen(facts, { nextRunAt: now + 5 })));
    assert.deepEqual({ ...first, id: 0 }, { uid: facts.uid, id: 0, created: true, changed: true, epochOpened: true });
    const again = await store.fenced(epoch, (tx) =>
      projectCronJob(tx, seen(facts, { nextRunAt: now + 5, seenAt: now + 1 })),
    );
    assert.deepEqual(again, { uid: facts.uid, id: first.id, created: false, changed: false, epochOpened: false });
    const [row] = await readRows(
      store,
      'select uid_text, labels, notes, time_zone, deadline_s, first_seen_at, seen_at, next_run_at, baseline_at from cronjobs where id = ?',
      [first.id],
    );
    assert.deepEqual(row, {
      uid_text: facts.uid,
      labels: '{"team":"data"}',
      notes: '{"owner":"ana"}',
      time_zone: 'Europe/Berlin',
      deadline_s: 100,
      first_seen_at: now,
      seen_at: now + 1,
      next_run_at: now + 5,
      baseline_at: null,
    });
  });

  test('keeps what a CronJob and its Namespace say of themselves, and who owns it', async ({ store, epoch }) => {
    const facts = someCronJob({ labels: { team: 'data' }, annotations: { grace: '5m' } });
    const name = { 'kubernetes.io/metadata.name': facts.namespace };
    const ofNamespace = { labels: { ...name, tier: 'gold' }, annotations: { severity: 'critical' } } as const;
    const { id } = await store.fenced(epoch, (tx) => projectCronJob(tx, seen(facts, { ofNamespace, owner: 'ana' })));
    const silent = someCronJob();
    const said = { labels: { 'kubernetes.io/metadata.name': silent.namespace }, annotations: {} };
    const { id: other } = await store.fenced(epoch, (tx) => projectCronJob(tx, seen(silent, { ofNamespace: said })));
    const [first, second] = await listOwnSettings(store, [id, other]);
    assert.deepEqual(
      [first?.cronJob, first?.ofNamespace],
      [{ labels: { team: 'data' }, annotations: { grace: '5m' } }, ofNamespace],
    );
    assert.deepEqual(second?.ofNamespace, said);
    const rows = await readRows(store, 'select notes, declared from cronjobs where id in (?, ?) order by id', [
      id,
      other,
    ]);
    assert.deepEqual([rows[0]?.['notes'], rows[1]?.['declared']], ['{"owner":"ana"}', null]);
    const changed = await store.fenced(epoch, (tx) => projectCronJob(tx, seen(facts, { owner: 'ana' })));
    assert.equal(changed.changed, true, 'its Namespace says nothing any more');
  });

  test('keeps what was said until when about how runs are judged, for the next leader and for the verdicts', async (bench) => {
    const { store, epoch } = bench;
    const facts = someCronJob({ annotations: { grace: '5m', severity: 'critical' } });
    const write = (more: Partial<Parameters<typeof seen>[1]>): Promise<{ readonly id: number }> =>
      store.fenced(epoch, (tx) => projectCronJob(tx, seen(facts, more)));
    const until = (untilAt: number, grace: string) => ({ untilAt, words: { cronJob: { grace }, ofNamespace: {} } });
    const { id } = await write({});
    const earlier = [until(now - 20, '1m'), until(now - 10, '2m')];
    await write({ earlierWords: earlier.slice(0, 1) });
    await write({ earlierWords: earlier });
    await write({ seenAt: now + 1 });
    const [judged] = await listJudgedCronJobs(store, [id]);
    const said = { words: { cronJob: { grace: '5m' }, ofNamespace: {} }, earlier };
    assert.deepEqual([judged?.said, judged?.seenAt], [said, now + 1]);
    assert.deepEqual((await listCronJobMarks(store, [facts.uid])).get(facts.uid)?.said, said);
  });

  test('is asked for lists of any length with a statement for each power of two, which stays prepared', async (bench) => {
    const { store, epoch } = bench;
    const all = Array.from({ length: 40 }, () => someCronJob());
    await store.fenced(epoch, (tx) =>
      projectCronJobs(
        tx,
        all.map((facts) => seen(facts)),
      ),
    );
    const uids = all.map(({ uid }) => uid);
    const asked = new Set<string>();
    const note = ({ sql }: { readonly sql: string }): unknown => asked.add(sql);
    store.sql.on('query', note);
    for (let length = 0; length <= uids.length; length++) {
      const ids = await cronJobIdsOf(store, uids.slice(0, length));
      assert.deepEqual([...ids.keys()].sort(), uids.slice(0, length).sort());
    }
    store.sql.removeListener('query', note);
    assert.equal(asked.size, 7, 'one, two, four, eight, 16, 32, 64');
  });

  test('takes hundreds at once, in the order given', async ({ store, epoch }) => {
    const all = Array.from({ length: 300 }, () => someCronJob());
    const results = await store.fenced(epoch, (tx) =>
      projectCronJobs(
        tx,
        all.map((facts) => seen(facts)),
      ),
    );
    assert.deepEqual(
      results.map(({ uid }) => uid),
      all.map(({ uid }) => uid),
    );
    assert.ok(results.every(({ created, changed, epochOpened }) => created && changed && epochOpened));
    assert.equal(new Set(results.map(({ id }) => id)).size, 300);
    const changed = all.map((facts, i) => (i % 3 === 0 ? { ...facts, lastScheduleAt: now } : facts));
    const second = await store.fenced(epoch, (tx) =>
      projectCronJobs(
        tx,
        changed.map((facts) => seen(facts)),
      ),
    );
    assert.equal(second.filter((result) => result.changed).length, 100);
    assert.equal(await readNumber(store, 'select count(*) as n from cronjobs where last_schedule_at = ?', [now]), 100);
  });

  test('keeps a UID that is no UUID by its digest', async ({ store, epoch }) => {
    const { id } = await projected(store, epoch, { uid: 'not-a-uuid' });
    const again = await store.fenced(epoch, (tx) => projectCronJob(tx, seen(someCronJob({ uid: 'not-a-uuid' }))));
    assert.equal(again.id, id);
    assert.equal(
      (await listWatchedSince(store, ['not-a-uuid', 'unknown'])).get('not-a-uuid'),
      someCronJob({}).createdAt,
    );
    assert.equal((await listWatchedSince(store, ['unknown'])).size, 0);
  });

  test('makes a new row for a new UID under an old name, and the old one is deleted', async ({ store, epoch }) => {
    const old = await projected(store, epoch, { namespace: 'prod', name: 'again' });
    const young = await store.fenced(epoch, (tx) =>
      projectCronJob(tx, seen(someCronJob({ namespace: 'prod', name: 'again' }), { seenAt: now + minuteMs })),
    );
    assert.notEqual(young.id, old.id);
    assert.deepEqual(await readRows(store, `select id, deleted_at from cronjobs where name = 'again' order by id`), [
      { id: old.id, deleted_at: now + minuteMs },
      { id: young.id, deleted_at: null },
    ]);
    const epochs = await listSpecEpochs(store, [old.id]);
    assert.equal(epochs.get(old.id)?.[0]?.toAt, now + minuteMs);
  });

  test('an older CronJob that is written late takes the place of no younger one of its name', async ({
    store,
    epoch,
  }) => {
    const young = await projected(store, epoch, { namespace: 'prod', name: 'late', createdAt: now });
    const old = someCronJob({ namespace: 'prod', name: 'late', createdAt: now - minuteMs });
    await store.fenced(epoch, (tx) => projectCronJob(tx, seen(old, { seenAt: now - 1 })));
    assert.equal(await readNumber(store, 'select count(*) as n from cronjobs where name = ?', ['late']), 2);
    assert.deepEqual(await readRows(store, 'select deleted_at from cronjobs where id = ?', [young.id]), [
      { deleted_at: null },
    ]);
  });

  test('remembers a deletion once, and takes a CronJob back that shows up again', async ({ store, epoch }) => {
    const { id, ...facts } = await projected(store, epoch);
    assert.equal(await store.fenced(epoch, (tx) => forgetCronJob(tx, facts.uid, now + 5)), true);
    assert.equal(await store.fenced(epoch, (tx) => forgetCronJob(tx, facts.uid, now + 9)), false);
    assert.equal(await store.fenced(epoch, (tx) => forgetCronJob(tx, randomUUID(), now)), false);
    assert.equal(await readNumber(store, 'select deleted_at as n from cronjobs where id = ?', [id]), now + 5);
    const back = await store.fenced(epoch, (tx) => projectCronJob(tx, seen(facts, { seenAt: now + minuteMs })));
    assert.deepEqual(back, { uid: facts.uid, id, created: false, changed: true, epochOpened: true });
    assert.equal(
      (await readRows(store, 'select deleted_at from cronjobs where id = ?', [id]))[0]?.['deleted_at'],
      null,
    );
  });

  test('takes the last success of the cluster only from the object itself, and never goes back', async ({
    store,
    epoch,
  }) => {
    const own = await projected(store, epoch, { createdAt: now - 100, lastSuccessAt: now - 50 });
    const foreign = await projected(store, epoch, { createdAt: now - 100, lastSuccessAt: now - 150 });
    const older = { ...own, lastSuccessAt: now - 80 };
    await store.fenced(epoch, (tx) => projectCronJob(tx, seen(older, { seenAt: now + 1 })));
    const found = await readRows(store, 'select last_success_at from cronjobs where id in (?, ?) order by id', [
      own.id,
      foreign.id,
    ]);
    assert.deepEqual(found, [{ last_success_at: now - 50 }, { last_success_at: null }]);
  });

  test('has no next run while suspended or not to be evaluated', async ({ store, epoch }) => {
    const { id, ...facts } = await projected(store, epoch);
    const next = async (changes: object, more: object): Promise<unknown> => {
      await store.fenced(epoch, (tx) =>
        projectCronJob(tx, seen({ ...facts, ...changes }, { nextRunAt: now + 9, ...more })),
      );
      return (await readRows(store, 'select next_run_at from cronjobs where id = ?', [id]))[0]?.['next_run_at'];
    };
    assert.equal(await next({}, {}), now + 9);
    assert.equal(await next({ suspended: true }, {}), null);
    assert.equal(await next({}, { problem: 'unparsable' }), null);
  });

  test('tells each change to those who listen, in order, with the epoch', async ({ store, epoch }) => {
    const last = await readNumber(store, 'select max(id) as n from changes');
    const facts = await projected(store, epoch, { namespace: 'prod', suspended: true });
    await store.fenced(epoch, (tx) => forgetCronJob(tx, facts.uid, now));
    const changes = await listChanges(store, { id: last, limit: 10 });
    const data = {
      namespace: 'prod',
      name: facts.name,
      status: 'unknown',
      state: 'unknown',
      suspended: true,
      runningJobs: 0,
      activeAlerts: 0,
    };
    assert.deepEqual(
      changes.map(({ kind, namespace, data: told }) => ({ kind, namespace, told })),
      [
        { kind: 'cronjob', namespace: 'prod', told: { ...data, deleted: false } },
        { kind: 'cronjob', namespace: 'prod', told: { ...data, deleted: true } },
      ],
    );
    assert.equal(await readNumber(store, 'select epoch as n from changes where id = ?', [changes[0]?.id]), epoch);
  });
});

export const specEpochs = contract('spec epochs', (test) => {
  test('open at first sight and stay open while nothing differs', async ({ store, epoch }) => {
    const { id, ...facts } = await projected(store, epoch, { schedule: '0 3 * * *' });
    await store.fenced(epoch, (tx) =>
      projectCronJob(tx, seen({ ...facts, generation: 9, labels: { a: 'b' } }, { seenAt: now + 5 })),
    );
    const epochs = (await listSpecEpochs(store, [id])).get(id);
    assert.equal(epochs?.length, 1);
    assert.deepEqual(
      { ...epochs[0], generation: 0 },
      {
        fromAt: now,
        toAt: undefined,
        schedule: '0 3 * * *',
        timeZone: facts.timeZone,
        suspended: false,
        policy: facts.policy,
        deadlineS: facts.deadlineS,
        certain: true,
        generation: 0,
      },
    );
  });

  test('follow each of the five fields', async ({ store, epoch }) => {
    const { id, ...facts } = await projected(store, epoch, { schedule: '0 3 * * *' });
    const edits: object[] = [
      { schedule: '0 4 * * *' },
      { timeZone: 'Asia/Tokyo' },
      { suspended: true },
      { policy: 'Replace' },
      { deadlineS: 17 },
      { deadlineS: undefined },
    ];
    let present = facts;
    for (const [i, edit] of edits.entries()) {
      present = { ...present, ...edit };
      const result = await store.fenced(epoch, (tx) =>
        projectCronJob(tx, seen(present, { seenAt: now + (i + 1) * minuteMs })),
      );
      assert.equal(result.epochOpened, true, JSON.stringify(edit));
    }
    const epochs = (await listSpecEpochs(store, [id])).get(id) ?? [];
    assert.deepEqual(
      epochs.map(({ fromAt, toAt }) => [
        (fromAt - now) / minuteMs,
        toAt === undefined ? null : (toAt - now) / minuteMs,
      ]),
      [
        [0, 1],
        [1, 2],
        [2, 3],
        [3, 4],
        [4, 5],
        [5, 6],
        [6, null],
      ],
    );
  });

  test('have a span of doubt when the instant of the edit is not known', async ({ store, epoch }) => {
    const { id, ...facts } = await projected(store, epoch, { schedule: '0 3 * * *' });
    const edited = { ...facts, schedule: '0 5 * * *' };
    await store.fenced(epoch, (tx) =>
      projectCronJob(tx, seen(edited, { seenAt: now + 60 * minuteMs, uncertainFrom: now + 10 * minuteMs })),
    );
    const epochs = (await listSpecEpochs(store, [id])).get(id) ?? [];
    assert.deepEqual(
      epochs.map(({ fromAt, toAt, schedule, certain }) => [(fromAt - now) / minuteMs, toAt, schedule, certain]),
      [
        [0, now + 10 * minuteMs, '0 3 * * *', true],
        [10, now + 60 * minuteMs, '0 5 * * *', false],
        [60, undefined, '0 5 * * *', true],
      ],
    );
  });

  for (const [says, suspended, writtenAt, expected] of [
    ['it is suspended since the write of that field', true, 50, [false, 50]],
    ['it was suspended until the write of that field', false, 50, [true, 50]],
    ['it was suspended until its end, where no write of that field is known', false, undefined, [true, 60]],
  ] as const)
    test(`say of a span of doubt that ${says}`, async ({ store, epoch }) => {
      const { id, ...facts } = await projected(store, epoch, { schedule: '0 3 * * *', suspended: !suspended });
      const specWrites =
        writtenAt === undefined
          ? []
          : [{ manager: 'kubectl-edit', at: now + writtenAt * minuteMs, fields: ['suspend'] }];
      const edited = { ...facts, schedule: '0 5 * * *', suspended, specWrites };
      await store.fenced(epoch, (tx) =>
        projectCronJob(tx, seen(edited, { seenAt: now + 60 * minuteMs, uncertainFrom: now + 10 * minuteMs })),
      );
      const [before, first, ...others] = (await listSpecEpochs(store, [id])).get(id) ?? [];
      const minutes = (at: number): number => (at - now) / minuteMs;
      assert.equal(before?.certain, true);
      assert.deepEqual([first?.suspended, minutes(first?.toAt ?? Number.NaN)], expected);
      assert.equal(minutes(first?.fromAt ?? Number.NaN), 10);
      assert.deepEqual(
        others.map((one) => [minutes(one.fromAt), one.suspended, one.certain]),
        [...(expected[1] === 60 ? [] : [[50, suspended, false]]), [60, suspended, true]],
      );
    });

  test('begin when the manager wrote, if that is known', async ({ store, epoch }) => {
    const { id, ...facts } = await projected(store, epoch);
    await store.fenced(epoch, (tx) =>
      projectCronJob(
        tx,
        seen({ ...facts, suspended: true }, { seenAt: now + 60 * minuteMs, changedAt: now + 20 * minuteMs }),
      ),
    );
    const epochs = (await listSpecEpochs(store, [id])).get(id) ?? [];
    assert.deepEqual(
      epochs.map(({ fromAt }) => (fromAt - now) / minuteMs),
      [0, 20],
    );
  });

  test('survive two edits in one millisecond and a clock that went back', async ({ store, epoch }) => {
    const { id, ...facts } = await projected(store, epoch);
    for (const [schedule, seenAt] of [
      ['1 * * * *', now],
      ['2 * * * *', now - minuteMs],
    ] as const) {
      await store.fenced(epoch, (tx) => projectCronJob(tx, seen({ ...facts, schedule }, { seenAt })));
    }
    const epochs = (await listSpecEpochs(store, [id])).get(id) ?? [];
    assert.deepEqual(
      epochs.map(({ fromAt, toAt, schedule }) => [fromAt, toAt, schedule]),
      [[now, undefined, '2 * * * *']],
    );
  });
});
