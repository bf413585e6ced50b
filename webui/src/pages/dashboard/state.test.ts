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
  const overview = { states: states(2), running: 1, service: {} };
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

test('counts that stay as they are do not keep the first page from asking after a minute', async () => {
  const { overview } = await aDashboard();
  now.sync(Date.now() + 61_000);
  assert.equal(overview.takes(counts(2, 5)), false);
});
