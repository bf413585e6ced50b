import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Incident } from '@cronjob-monitor/shared/contract';
import { rowOf, together, toChoosable } from './incident.ts';

const incident = (actedOn: Incident['actedOn'], alerts: Partial<Incident['alerts'][number]>[]): Incident =>
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the fields that a row reads
  ({
    cronjob: { namespace: 'shop', name: 'backup' },
    verdict: {},
    recentRuns: [],
    actedOn,
    alerts,
  }) as unknown as Incident;
// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- as above
const actedOn = { suspended: true } as NonNullable<Incident['actedOn']>;

test('the name of an incident leads to its CronJob, what it was told to its worst alert, and it counts all of them', () => {
  const row = rowOf(
    incident(actedOn, [
      { id: '1', state: 'active' },
      { id: '2', state: 'suppressed' },
    ]),
  );
  assert.deepEqual([row.href, row.alertHref, row.alerts.length], ['/cronjobs/shop/backup', '/alerts/1', 2]);
  const { suspended, activeAlerts, heldAlerts } = row.cronJob ?? {};
  assert.deepEqual([suspended, activeAlerts, heldAlerts], [true, 1, 1]);
  assert.equal(rowOf(incident(actedOn, [])).alertHref, undefined);
});

test('one that is expected and not there leads to its alert, and nothing is done with it', () => {
  const row = rowOf(incident(null, [{ id: '1', state: 'active' }]));
  assert.deepEqual([row.href, row.cronJob, toChoosable(row)], ['/alerts/1', undefined, []]);
  assert.equal(toChoosable(rowOf(incident(actedOn, []))).length, 1);
});

test('CronJobs that fail by one thing are one row, where the worst of them stood, with what is so of all of them', () => {
  const sharedCause = 'db.prod:5432 refuses connections';
  const openRun = { action: 'openRun', words: 'Open the run', command: null, href: '/runs/1' };
  const told = (channel: string): object => ({ state: 'told', channels: [{ channel }] });
  const failing = (name: string, fields: object, cause: string | null = sharedCause): Incident => ({
    ...incident(actedOn, []),
    cronjob: { namespace: 'shop', name },
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- as above
    verdict: { state: 'failing', words: `${name} failed`, step: openRun, told: told('chat'), ...fields } as never,
    sharedCause: cause,
  });
  const rows = together(
    [failing('etl', {}, null), failing('a', {}), failing('mail', {}, 'Node n evicts their pods'), failing('b', {})].map(
      rowOf,
    ),
  );
  assert.deepEqual(
    rows.map(({ ref, members }) => [ref.name, members.map((one) => one.ref.name)]),
    [
      ['etl', []],
      ['a', ['a', 'b']],
      ['mail', []],
    ],
  );
  const { verdict } = rows[1] ?? assert.fail();
  assert.deepEqual([verdict.words, verdict.step?.href, verdict.told?.channels.length], [sharedCause, '/runs/1', 1]);
  assert.deepEqual(rows.flatMap(toChoosable).length, 4, 'each of them can be chosen');
  const ofGroup = rows.flatMap(toChoosable).filter(({ group }) => group === rows[1]?.key);
  assert.deepEqual(
    ofGroup.map(({ ref }) => ref.name),
    ['a', 'b'],
    'and both by their one row',
  );
  const patch = (name: string): object => ({
    step: { action: 'copyPatch', words: 'More', command: `patch ${name}`, href: null },
  });
  const [differing] = together(
    [failing('a', patch('a')), failing('b', { ...patch('b'), told: told('mail') })].map(rowOf),
  );
  assert.deepEqual([differing?.verdict.step, differing?.verdict.told], [null, null]);
  const waits = (name: string, since: string): object => ({
    step: { ...openRun, words: 'Name another image', command: `delete job ${name}` },
    change: 'since image 1 → 2',
    since,
  });
  const [waiting] = together(
    [failing('a', waits('a', '2026-11-21T08:00:00Z')), failing('b', waits('b', '2026-11-21T07:00:00Z'))].map(rowOf),
  );
  assert.deepEqual(waiting?.verdict.step, { ...openRun, words: 'Name another image' });
  assert.deepEqual([waiting.verdict.change, waiting.verdict.since], ['since image 1 → 2', '2026-11-21T07:00:00Z']);
});
