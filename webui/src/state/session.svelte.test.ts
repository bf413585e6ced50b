import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Health, StreamData } from '@cronjob-monitor/shared/contract';
import { stillHealthy } from './session.svelte.ts';

const health: Health = {
  status: 'healthy',
  storage: 'connected',
  ready: true,
  leader: true,
  version: '0.1.0',
  uptime: '1h0m0s',
  analyzerEnabled: true,
  schedulersRunning: ['dead-man-switch'],
  problems: [],
  lastEvaluation: '2026-11-21T14:02:48.000Z',
  schemaVersion: 4,
  cluster: null,
  defaultTimeZone: 'UTC',
  timeZoneData: '2026b',
  controller: null,
};
const said: StreamData['health'] = {
  status: 'healthy',
  storage: 'connected',
  ready: true,
  leader: true,
  lastEvaluation: '2026-11-21T14:03:48.000Z',
};
const after = (change: Partial<StreamData['health']>, before: Health = health): Health | undefined =>
  stillHealthy(before, { kind: 'health', data: { ...said, ...change } });

describe('a change of health', () => {
  test('of a service that stays healthy is all there is to know', () => {
    assert.deepEqual(after({}), { ...health, lastEvaluation: '2026-11-21T14:03:48.000Z' });
  });

  test('has to be asked about when the service is not healthy, or was not', () => {
    assert.equal(after({ status: 'degraded' }), undefined);
    assert.equal(after({}, { ...health, status: 'degraded', problems: ['The watch of Jobs is old'] }), undefined);
  });

  test('has to be asked about when no controller leads any more, or evaluates for the first time', () => {
    assert.equal(after({ leader: false }), undefined);
    assert.equal(after({}, { ...health, lastEvaluation: null }), undefined);
  });

  test('says nothing where something else changed', () => {
    assert.equal(stillHealthy(health, { kind: 'alert', data: {} as StreamData['alert'] }), undefined);
  });
});
