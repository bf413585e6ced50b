import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Silence, SilenceList } from '@cronjob-monitor/shared/contract';
import { listSilences, recordDecisions } from '@cronjob-monitor/shared/store';
import { addAlert } from '../../testing/alerts.ts';
import { testNow } from '../../testing/api.ts';
import { startFleet, type TestFleet } from '../../testing/fleet.ts';
import { dayMs, hourMs } from '@cronjob-monitor/shared/domain';

const path = '/api/v1/silences';
const iso = (at: number): string => new Date(at).toISOString();
const whole = {
  namespaces: [],
  cronjobs: [],
  refs: [],
  types: [],
  severities: [],
  monitor: null,
  alertId: null,
  all: false,
};

async function aFleet(): Promise<TestFleet> {
  const fleet = await startFleet();
  await fleet.addMonitor({}, [await fleet.addCronJob({ name: 'backup' }), await fleet.addCronJob({ name: 'etl' })]);
  return fleet;
}

async function created(fleet: TestFleet, changes: object = {}): Promise<Silence> {
  const body = { matcher: { cronjobs: ['backup'] }, duration: '4h', comment: 'storage move', ...changes };
  const answer = await fleet.ask(path, { method: 'POST', body });
  assert.equal(answer.status, 201, answer.text);
  const silence = answer.json() as Silence;
  assert.equal(answer.headers['location'], `${path}/${silence.id ?? ''}`);
  return silence;
}

test('keeps a silence as it was asked for, and says what it holds', async () => {
  await using fleet = await aFleet();
  await addAlert(fleet);
  await addAlert(fleet, { cronJobName: 'etl' });
  const silence = await created(fleet, { by: 'ana', matcher: { namespaces: ['prod'], cronjobs: ['backup'] } });
  assert.deepEqual(silence, {
    id: silence.id,
    state: 'active',
    matcher: { ...whole, namespaces: ['prod'], cronjobs: ['backup'] },
    startsAt: iso(testNow),
    endsAt: iso(testNow + 4 * hourMs),
    untilResolved: false,
    comment: 'storage move',
    createdBy: 'ana',
    createdAt: iso(testNow),
    updatedAt: iso(testNow),
    mutedNow: 1,
    mutedTotal: 1,
  });
  assert.deepEqual((await fleet.ask(`${path}/${silence.id ?? ''}`)).json(), silence);
  assert.deepEqual((await fleet.ask(path)).json(), { items: [silence] });
});

test('holds CronJobs by their whole names, until what it holds has ended, and without a comment', async () => {
  await using fleet = await aFleet();
  await addAlert(fleet);
  await addAlert(fleet, { cronJobName: 'etl' });
  const refs = [
    { namespace: 'prod', name: 'etl' },
    { namespace: 'dev', name: 'backup' },
  ];
  const silence = await created(fleet, {
    matcher: { refs },
    duration: undefined,
    untilSuccess: true,
    comment: undefined,
  });
  assert.deepEqual(silence.matcher, { ...whole, refs });
  assert.deepEqual(
    [silence.untilResolved, silence.endsAt, silence.comment, silence.mutedNow],
    [true, iso(testNow + 30 * dayMs), '', 1],
  );
  for (const [namespace, found] of [
    ['dev', 1],
    ['ops', 0],
  ] as const)
    assert.equal(
      ((await fleet.ask(`${path}?namespace=${namespace}`)).json() as SilenceList).items.length,
      found,
      namespace,
    );
});

test('previews what a silence would hold, and keeps nothing', async () => {
  await using fleet = await aFleet();
  await addAlert(fleet, { severity: 'critical' });
  const startsAt = iso(testNow + dayMs);
  const answer = await fleet.ask(`${path}?dryRun=true`, {
    method: 'POST',
    body: { matcher: { severities: ['critical'] }, startsAt, duration: '1h', comment: 'try' },
  });
  assert.equal(answer.status, 200, answer.text);
  const { id, state, mutedNow, mutedTotal } = answer.json() as Silence;
  assert.deepEqual([id, state, mutedNow, mutedTotal], [null, 'scheduled', 1, 1]);
  assert.deepEqual(await listSilences(fleet.store, testNow), []);
});

test('counts what it held before with what it holds now', async () => {
  await using fleet = await aFleet();
  const alert = await addAlert(fleet);
  const { id } = await created(fleet);
  const [now, before] = [alert.id, '019ab2c4-0000-7000-8000-00000000000b'];
  await fleet.store.fenced(fleet.epoch, (tx) =>
    recordDecisions(
      tx,
      [now, before].map((alertId) => ({ alertId, action: 'held', reason: 'silence', detail: id ?? '' }) as const),
    ),
  );
  const { mutedNow, mutedTotal } = (await fleet.ask(`${path}/${id ?? ''}`)).json() as Silence;
  assert.deepEqual([mutedNow, mutedTotal], [1, 2]);
});

test('filters by state and namespace, sorts and pages', async () => {
  await using fleet = await aFleet();
  const fleetWide = await created(fleet, { matcher: { all: true }, duration: '3h' });
  const ofData = await created(fleet, { matcher: { namespaces: ['data'] }, duration: '2h' });
  const later = await created(fleet, { startsAt: iso(testNow + dayMs), duration: '1h' });
  const over = await created(fleet, { duration: '1h' });
  await fleet.ask(`${path}/${over.id ?? ''}`, { method: 'DELETE' });
  const find = async (query: string): Promise<readonly (string | null)[]> =>
    ((await fleet.ask(path + query)).json() as SilenceList).items.map(({ id }) => id);
  assert.deepEqual(await find(''), [ofData.id, fleetWide.id, later.id]);
  assert.deepEqual(await find('?sort=-endsAt'), [later.id, fleetWide.id, ofData.id]);
  assert.deepEqual(await find('?state=scheduled'), [later.id]);
  assert.deepEqual(await find('?state=expired'), [over.id]);
  assert.deepEqual(await find('?namespace=prod&state=active'), [fleetWide.id], 'one without a namespace concerns each');
  assert.deepEqual(await find('?limit=1&offset=1'), [fleetWide.id]);
});

test('changes a silence as a whole, but for its author', async () => {
  await using fleet = await aFleet();
  const { id } = await created(fleet, { by: 'ana' });
  await fleet.clock.advance(60_000);
  const body = {
    matcher: { types: ['jobStuck'] },
    endsAt: iso(testNow + dayMs),
    comment: 'longer',
    untilResolved: true,
  };
  const answer = await fleet.ask(`${path}/${id ?? ''}`, { method: 'PUT', body });
  assert.equal(answer.status, 200, answer.text);
  const after = answer.json() as Silence;
  assert.deepEqual(
    [
      after.matcher.types,
      after.matcher.cronjobs,
      after.untilResolved,
      after.createdBy,
      after.createdAt,
      after.updatedAt,
    ],
    [['jobStuck'], [], true, 'ana', iso(testNow), iso(testNow + 60_000)],
  );
});

test('ends a silence now, any number of times; then it cannot be changed', async () => {
  await using fleet = await aFleet();
  const { id } = await created(fleet);
  await fleet.clock.advance(60_000);
  for (const _ of [1, 2]) {
    const answer = await fleet.ask(`${path}/${id ?? ''}`, { method: 'DELETE' });
    const { state, endsAt, mutedNow } = answer.json() as Silence;
    assert.deepEqual([answer.status, state, endsAt, mutedNow], [200, 'expired', iso(testNow + 60_000), 0]);
  }
  const body = { matcher: { all: true }, duration: '1h', comment: 'again' };
  const change = await fleet.ask(`${path}/${id ?? ''}`, { method: 'PUT', body });
  assert.deepEqual([change.status, change.error().code], [409, 'CONFLICT']);
});

test('knows no silence by a text that is none of its ids', async () => {
  await using fleet = await aFleet();
  const body = { matcher: { all: true }, duration: '1h', comment: 'x' };
  for (const id of ['019ab2c4-ffff-7000-8000-000000000000', 'x']) {
    for (const [method, sent] of [['GET'], ['DELETE'], ['PUT', body]] as const) {
      const answer = await fleet.ask(`${path}/${id}`, { method, ...(sent ? { body: sent } : {}) });
      assert.deepEqual([answer.status, answer.error().details?.kind], [404, 'Silence'], `${method} ${id}`);
    }
  }
});

const good = { matcher: { all: true }, duration: '1h', comment: 'x' };
/** What is changed of a good body, and the field it is refused for. */
const refused: readonly (readonly [changes: object, field: string])[] = [
  [{ matcher: {} }, 'matcher'],
  [{ matcher: undefined }, 'matcher'],
  [{ matcher: [] }, 'matcher'],
  [{ matcher: { all: true, namespaces: ['prod'] } }, 'matcher.all'],
  [{ matcher: { all: 'true' } }, 'matcher.all'],
  [{ matcher: { types: ['jobBroken'] } }, 'matcher.types[0]'],
  [{ matcher: { severities: ['info'] } }, 'matcher.severities[0]'],
  [{ matcher: { namespaces: [''] } }, 'matcher.namespaces[0]'],
  [{ matcher: { namespaces: ['prod', 'team-*'] } }, 'matcher.namespaces[1]'],
  [{ matcher: { cronjobs: ['prod/backup'] } }, 'matcher.cronjobs[0]'],
  [{ matcher: { cronjobs: ['~migrate', 'backup-*'] } }, 'matcher.cronjobs[1]'],
  [{ matcher: { monitor: { namespace: 'prod' } } }, 'matcher.monitor.name'],
  [{ matcher: { owner: 'me' } }, 'matcher.owner'],
  [{ duration: undefined }, 'endsAt'],
  [{ endsAt: iso(testNow + hourMs) }, 'endsAt'],
  [{ untilSuccess: true }, 'endsAt'],
  [{ duration: undefined, untilSuccess: false }, 'endsAt'],
  [{ matcher: { refs: [{ namespace: 'prod' }] } }, 'matcher.refs[0].name'],
  [{ duration: 'soon' }, 'duration'],
  [{ duration: '0s' }, 'duration'],
  [{ duration: '31d' }, 'endsAt'],
  [{ duration: undefined, endsAt: iso(testNow) }, 'endsAt'],
  [{ duration: undefined, endsAt: 'later' }, 'endsAt'],
  [{ duration: undefined, startsAt: iso(testNow + 2 * hourMs), endsAt: iso(testNow + hourMs) }, 'endsAt'],
  [{ startsAt: 'x' }, 'startsAt'],
  [{ comment: '' }, 'comment'],
  [{ comment: '   ' }, 'comment'],
  [{ matcher: { alertId: 'x' } }, 'matcher.alertId'],
  [{ startsAt: '9999-12-31T23:59:59Z' }, 'startsAt'],
  [{ comment: 'x'.repeat(501) }, 'comment'],
  [{ untilResolved: 1 }, 'untilResolved'],
  [{ id: 'x' }, 'id'],
];

test('takes a silence without a comment, which is empty then', async () => {
  await using fleet = await aFleet();
  const silence = await created(fleet, { comment: undefined });
  assert.equal(silence.comment, '');
  const changed = await fleet.ask(`${path}/${silence.id ?? ''}`, { method: 'PUT', body: good });
  assert.equal((changed.json() as Silence).comment, 'x');
});

test('names what is wrong with a silence, and keeps nothing', async () => {
  await using fleet = await aFleet();
  for (const [changes, field] of refused) {
    const answer = await fleet.ask(path, { method: 'POST', body: { ...good, ...changes } });
    assert.equal(answer.status, 400, JSON.stringify(changes));
    const fields = answer.error().details?.problems?.map((problem) => problem.field);
    assert.ok(fields?.includes(field), `${JSON.stringify(changes)}: ${String(fields)}`);
  }
  assert.deepEqual(await listSilences(fleet.store, testNow), []);
});
