import assert from 'node:assert/strict';
import { beforeEach, mock, test } from 'node:test';
import { healthStates } from '@cronjob-monitor/shared/contract';
import type { Hint } from '../../api/stream.ts';
import { now } from '../../state/now.svelte.ts';
import { DashboardState } from './state.svelte.ts';

beforeEach(() => {
  mock.timers.reset();
  mock.timers.enable({ apis: ['setTimeout', 'Date'], now: Date.parse('2026-11-21T14:03:00.000Z') });
  now.sync(Date.now());
});

const states = (critical: number) =>
  Object.fromEntries(healthStates.map((state) => [state, state === 'critical' ? critical : 1]));

/** Counts as the stream carries them. */
function counts(critical: number, running: number): Hint {
  const stats = { states: states(critical), summary: { running } };
  return { kind: 'overview', data: { revision: '7', stats } } as unknown as Hint; // nothing else of it is read
}

async function aDashboard(): Promise<DashboardState> {
  const incidents = [{ cronjob: { namespace: 'prod', name: 'backup' } }];
  const overview = { revision: '5', states: states(2), running: 1, service: {}, incidents };
  mock.method(globalThis, 'fetch', () => Promise.resolve(Response.json(overview)));
  const state = new DashboardState();
  await state.overview.refresh();
  assert.equal(state.overview.value?.running, 1);
  return state;
}

test('runs that begin and end leave the quick looks of the first page to what changes its incidents', async () => {
  const { overview } = await aDashboard();
  assert.equal(overview.takes(counts(2, 5)), true);
  assert.equal(overview.value?.running, 5);
  assert.equal(overview.takes(counts(3, 5)), false, 'one more is critical');
});

test('incidents that the stream carries come, move and go in place, and nothing is asked for', async () => {
  const { overview } = await aDashboard();
  const names = (): unknown => overview.value?.incidents.map(({ cronjob }) => cronjob.name);
  const say = (revision: string, step: object): void => {
    const hint = { kind: 'incident', data: { revision, ...step } } as unknown as Hint; // nothing else of a row is read
    assert.equal(overview.takes(hint), true);
  };
  const row = (name: string) => ({ cronjob: { namespace: 'prod', name } });
  say('6', { rank: 0, row: row('etl') });
  say('6', { rank: 1, row: row('report') });
  assert.deepEqual(names(), ['etl', 'report', 'backup']);
  const all = { states: states(3), summary: { running: 5 } };
  const data = { revision: '6', stats: all, headline: '3 critical', incidentTotal: 2 };
  assert.equal(overview.takes({ kind: 'overview', data } as unknown as Hint), true);
  assert.deepEqual(names(), ['etl', 'report'], 'what no step named is gone');
  assert.deepEqual([overview.value?.headline, overview.value?.incidentTotal], ['3 critical', 2]);
  say('8', { removed: { namespace: 'prod', name: 'etl' } });
  say('7', { rank: 0, row: row('late') });
  assert.deepEqual(names(), ['report'], 'what is older than what is shown changes nothing');
});

test('counts that stay as they are do not keep the first page from asking after five minutes', async () => {
  const { overview } = await aDashboard();
  now.sync(Date.now() + 301_000);
  assert.equal(overview.takes(counts(2, 5)), false);
});
