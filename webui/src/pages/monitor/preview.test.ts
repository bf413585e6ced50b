import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { MonitorPreview, MonitorPreviewInput } from '@cronjob-monitor/shared/contract';
import { previewText, PreviewState } from './preview.svelte.ts';

const result: MonitorPreview = {
  valid: true,
  findings: [],
  cronJobs: { matched: 12, withHistory: 11, items: [], omitted: 0 },
  from: '2026-10-22T14:03:00.000Z',
  to: '2026-11-21T14:03:00.000Z',
  alerts: { total: 4, byType: { jobFailed: 4 }, items: [], omitted: 0 },
  blindSeconds: 0,
  truncated: false,
};

describe('the preview of changed rules', () => {
  const ref = { namespace: 'prod', name: 'dr' };

  test('begins with the rules as applied, and sends them changed for the monitor they would replace', async () => {
    const asked: MonitorPreviewInput[] = [];
    const state = new PreviewState(ref, { sla: { minSuccessRate: 95 } }, async (input) => {
      asked.push(input);
      return result;
    });
    assert.deepEqual(JSON.parse(state.text), { sla: { minSuccessRate: 95 } });
    state.text = '{"sla": {"minSuccessRate": 99}}';
    state.days = '7';
    await state.run();
    assert.deepEqual(asked, [{ ...ref, spec: { sla: { minSuccessRate: 99 } }, days: 7 }]);
    assert.equal(state.result?.alerts.total, 4);
    state.days = '8';
    assert.equal(state.result, undefined, 'the answer was about other days');
  });

  test('asks nothing of what is no object, or of days that are none', async () => {
    let calls = 0;
    const state = new PreviewState(ref, {}, () => {
      calls++;
      return Promise.reject(new Error('no'));
    });
    for (const text of ['', '[1]', 'null', '{']) {
      state.text = text;
      assert.match(state.lack ?? '', /JSON object/);
      await state.run();
    }
    state.text = '{}';
    for (const days of ['0', '31', 'x', '']) {
      state.days = days;
      assert.match(state.lack ?? '', /1 to 30/);
      await state.run();
    }
    assert.equal(calls, 0);
    state.days = '30';
    await state.run();
    assert.match(state.failure, /^Could not try the rules/);
  });

  test('is one sentence', () => {
    assert.equal(previewText(result, 30), '4 alerts of 12 CronJobs in 30 days');
    const one = { ...result, alerts: { ...result.alerts, total: 1 }, cronJobs: { ...result.cronJobs, matched: 1 } };
    assert.equal(previewText(one, 1), '1 alert of 1 CronJob in 1 day');
    assert.equal(previewText({ ...result, valid: false }, 30), 'The rules cannot be used');
  });
});
