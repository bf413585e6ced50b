import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Alert, BulkInput, BulkResult, Silence, SilenceList } from '@cronjob-monitor/shared/contract';
import { ClusterError, type Cluster } from '@cronjob-monitor/shared/kube';
import { addAlert } from '../../testing/alerts.ts';
import { startFleet, type TestFleet } from '../../testing/fleet.ts';
import { ReviewingCluster } from '../../testing/reviewing-cluster.ts';

const backup = { namespace: 'prod', name: 'backup' };
const etl = { namespace: 'prod', name: 'etl' };
const ghost = { namespace: 'prod', name: 'ghost' };

async function aFleet(options: Parameters<typeof startFleet>[0] = {}): Promise<TestFleet> {
  const fleet = await startFleet(options);
  const cronJobs = [await fleet.addCronJob({ name: 'backup' }), await fleet.addCronJob({ name: 'etl' })];
  await fleet.addMonitor({}, cronJobs);
  return fleet;
}

async function act(fleet: TestFleet, body: BulkInput, headers: Record<string, string> = {}): Promise<BulkResult> {
  const answer = await fleet.ask('/api/v1/bulk', { method: 'POST', body, headers });
  assert.equal(answer.status, 200, answer.text);
  return answer.json() as BulkResult;
}

const short = ({ rows }: BulkResult) => rows.map(({ name, outcome, words }) => `${name}: ${outcome}: ${words}`);

async function acknowledgedBy(fleet: TestFleet, id: string): Promise<string | undefined> {
  const { acknowledgement } = (await fleet.ask(`/api/v1/alerts/${id}`)).json() as Alert;
  return acknowledgement?.by;
}

test('acknowledges all open alerts of each row, keeps an earlier note, and takes back what it did alone', async () => {
  await using fleet = await aFleet();
  const noted = await addAlert(fleet);
  const fresh = await addAlert(fleet, { type: 'deadManTriggered' });
  const note = { method: 'POST', body: { by: 'ben', note: 'mine' } } as const;
  assert.equal((await fleet.ask(`/api/v1/alerts/${noted.id}/acknowledge`, note)).status, 200);

  const result = await act(fleet, { action: 'acknowledge', refs: [backup, etl], body: { by: 'ana' } });
  assert.deepEqual(short(result), ['backup: done: 1 alert acknowledged', 'etl: unchanged: No alert is open']);
  assert.deepEqual(result.rows[0]?.alertIds, [fresh.id]);
  assert.deepEqual([await acknowledgedBy(fleet, noted.id), await acknowledgedBy(fleet, fresh.id)], ['ben', 'ana']);
  assert.deepEqual(short(await act(fleet, { action: 'acknowledge', refs: [backup] })), [
    'backup: unchanged: Acknowledged already',
  ]);

  const undo = await act(fleet, { action: 'unacknowledge', refs: [{ ...backup, alertIds: [fresh.id] }] });
  assert.deepEqual(short(undo), ['backup: done: 1 alert no longer acknowledged']);
  assert.deepEqual([await acknowledgedBy(fleet, noted.id), await acknowledgedBy(fleet, fresh.id)], ['ben', undefined]);
});

test('silences each row by itself, says what is held, and ends the silences again', async () => {
  await using fleet = await aFleet();
  await addAlert(fleet);
  const body = { duration: '4h' };
  const result = await act(fleet, { action: 'silence', refs: [backup, etl, ghost], body });
  assert.deepEqual(short(result), [
    'backup: done: Silenced: 1 alert held now',
    'etl: done: Silenced: 0 alerts held now',
    'ghost: refused: CronJob prod/ghost is not known: there is none, or no monitor selects it',
  ]);
  const list = async (): Promise<readonly Silence[]> =>
    ((await fleet.ask('/api/v1/silences')).json() as SilenceList).items;
  assert.deepEqual((await list()).map(({ matcher }) => [matcher.namespaces, matcher.cronjobs]).toSorted(), [
    [['prod'], ['backup']],
    [['prod'], ['etl']],
  ]);
  const refs = result.rows.map(({ namespace, name, silenceIds }) => ({ namespace, name, silenceIds }));
  const undone = await act(fleet, { action: 'endSilence', refs });
  assert.deepEqual(
    undone.rows.map(({ outcome }) => outcome),
    ['done', 'done', 'unchanged'],
  );
  assert.deepEqual(await list(), []);
});

test('does once what two rows name alike, and tells of it in both', async () => {
  await using fleet = await aFleet();
  const { rows } = await act(fleet, { action: 'silence', refs: [backup, backup], body: { duration: '1h' } });
  const items = ((await fleet.ask('/api/v1/silences')).json() as SilenceList).items;
  assert.equal(items.length, 1);
  assert.deepEqual(
    rows.map(({ silenceIds }) => silenceIds),
    [[items[0]?.id], [items[0]?.id]],
  );
});

test('silences each row until it succeeds', async () => {
  await using fleet = await aFleet();
  await act(fleet, { action: 'silence', refs: [backup], body: { untilSuccess: true } });
  const [silence] = ((await fleet.ask('/api/v1/silences')).json() as SilenceList).items;
  assert.deepEqual([silence?.untilResolved, silence?.matcher.cronjobs], [true, ['backup']]);
});

test('a silence of another namespace is not ended by a row that names it', async () => {
  await using fleet = await aFleet();
  const all = { matcher: { all: true }, duration: '1h', comment: 'move' };
  const { id } = (await fleet.ask('/api/v1/silences', { method: 'POST', body: all })).json() as Silence;
  const result = await act(fleet, { action: 'endSilence', refs: [{ ...backup, silenceIds: [id ?? ''] }] });
  assert.equal(result.rows[0]?.code, 'NOT_FOUND');
  assert.equal(((await fleet.ask('/api/v1/silences')).json() as SilenceList).items.length, 1);
});

test('suspends what it can and says of each other row why not', async () => {
  const suspended: string[] = [];
  const cluster = {
    findCronJob: async () => ({ metadata: {}, spec: {} }),
    setSuspended: async ({ name }: { name: string }) => {
      if (name === 'etl') throw new ClusterError('forbidden', { verb: 'patch', resource: 'cronjobs', message: 'no' });
      suspended.push(name);
    },
  };
  await using fleet = await aFleet({ cluster: cluster as unknown as Cluster });
  const { rows } = await act(fleet, { action: 'suspend', refs: [backup, etl, ghost] });
  assert.deepEqual(
    rows.map(({ name, outcome, code }) => [name, outcome, code]),
    [
      ['backup', 'done', null],
      ['etl', 'refused', 'CLUSTER_FORBIDDEN'],
      ['ghost', 'refused', 'NOT_FOUND'],
    ],
  );
  assert.deepEqual(suspended, ['backup']);
});

test('asks the rights of each row by itself, before it says whether it exists', async () => {
  const cluster = new ReviewingCluster()
    .grant('ana', 'list cronjobs in prod', 'update cronjobmonitors in prod')
    .grant('cy', 'list cronjobs in prod');
  await using fleet = await aFleet({ cluster: cluster.asCluster(), settings: { authMode: 'token' } });
  await addAlert(fleet);
  const refs = [backup, { namespace: 'dev', name: 'backup' }];
  const outcomes = async (token: string): Promise<unknown> => {
    const { rows } = await act(fleet, { action: 'acknowledge', refs }, { authorization: `Bearer ${token}` });
    return rows.map(({ outcome, code }) => [outcome, code]);
  };
  assert.deepEqual(await outcomes('cy'), [
    ['refused', 'FORBIDDEN'],
    ['refused', 'FORBIDDEN'],
  ]);
  assert.deepEqual(await outcomes('ana'), [
    ['done', null],
    ['refused', 'FORBIDDEN'],
  ]);
});

test('refuses as a whole what is wrong for all rows', async () => {
  await using fleet = await aFleet();
  const refuses = async (body: object): Promise<string | undefined> => {
    const answer = await fleet.ask('/api/v1/bulk', { method: 'POST', body });
    assert.equal(answer.status, 400, answer.text);
    return answer.error().details?.problems?.[0]?.field;
  };
  assert.equal(await refuses({ action: 'delete', refs: [backup] }), 'action');
  assert.equal(await refuses({ action: 'suspend', refs: [] }), 'refs');
  assert.equal(await refuses({ action: 'suspend', refs: Array.from({ length: 201 }, () => backup) }), 'refs');
  assert.equal(await refuses({ action: 'silence', refs: [backup], body: { comment: 'x' } }), 'endsAt');
  const blank = { duration: '4h', comment: ' ' };
  assert.equal(await refuses({ action: 'silence', refs: [backup], body: blank }), 'comment');
  assert.equal(await refuses({ action: 'acknowledge', refs: [{ ...backup, alertIds: ['x'] }] }), 'refs[0].alertIds[0]');
  assert.equal(await refuses({ action: 'acknowledge', refs: [{ ...backup, alertIds: [] }] }), 'refs[0].alertIds');
  const past = { expiresAt: '2020-01-01' };
  assert.equal(await refuses({ action: 'acknowledge', refs: [backup], body: past }), 'expiresAt');
});
