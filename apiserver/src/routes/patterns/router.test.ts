import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PatternTestResult } from '@cronjob-monitor/shared/contract';
import { testPattern } from '../../actions/test-pattern.ts';
import { startApi } from '../../testing/api.ts';

const path = '/api/v1/patterns/test';
const pattern = { name: 'oom', match: { exitCode: 137 }, suggestion: 'Raise the limit of {{ .CronJob.Name }}.' };

test('says which criteria hold, and what would be suggested', async () => {
  await using api = await startApi();
  const body = {
    pattern: { ...pattern, match: { exitCode: 137, logPattern: '(?i)killed$', eventPattern: 'OOM' } },
    testContext: { cronjobName: 'backup', exitCode: 137, logs: 'at work\nKilled', events: ['BackOff: OOM'] },
  };
  const answer = await api.ask(path, { method: 'POST', body });
  assert.equal(answer.status, 200, answer.text);
  assert.deepEqual(answer.json(), {
    matched: true,
    suggestion: 'Raise the limit of backup.',
    criteria: [
      { criterion: 'exitCode', matched: true },
      { criterion: 'logPattern', matched: true },
      { criterion: 'eventPattern', matched: true },
    ],
  });
  const other = await api.ask(path, { method: 'POST', body: { ...body, testContext: { exitCode: 137 } } });
  assert.deepEqual(other.json(), {
    matched: false,
    suggestion: '',
    criteria: [
      { criterion: 'exitCode', matched: true },
      { criterion: 'logPattern', matched: false },
      { criterion: 'eventPattern', matched: false },
    ],
  });
});

test('needs no context', async () => {
  await using api = await startApi();
  const answer = await api.ask(path, { method: 'POST', body: { pattern } });
  assert.equal((answer.json() as PatternTestResult).matched, false);
});

/** What is changed of the pattern, and the field it is refused for. */
const refused: readonly (readonly [changes: object, field: string])[] = [
  [{ match: {} }, 'pattern.match'],
  [{ match: undefined }, 'pattern.match'],
  [{ match: { exitCode: 256 } }, 'pattern.match.exitCode'],
  [{ match: { exitCode: '1' } }, 'pattern.match.exitCode'],
  [{ match: { exitCodeRange: { min: 2, max: 1 } } }, 'pattern.match.exitCodeRange'],
  [{ match: { logPattern: '(a' } }, 'pattern.match.logPattern'],
  [{ match: { reasonPattern: '(?=a)' } }, 'pattern.match.reasonPattern'],
  [{ match: { eventPattern: 'ä'.repeat(600) } }, 'pattern.match.eventPattern'],
  [{ match: { log: 'x' } }, 'pattern.match.log'],
  [{ suggestion: '{{ .Secret }}' }, 'pattern.suggestion'],
  [{ suggestion: '{{ if .Name }}' }, 'pattern.suggestion'],
  [{ suggestion: '' }, 'pattern.suggestion'],
  [{ name: undefined }, 'pattern.name'],
  [{ priority: 1.5 }, 'pattern.priority'],
];

test('names what is wrong with a pattern', async () => {
  await using api = await startApi({ settings: { costlyRequestsPerMinute: 1 } });
  for (const [changes, field] of refused) {
    const answer = await api.ask(path, { method: 'POST', body: { pattern: { ...pattern, ...changes } } });
    assert.equal(answer.status, 400, `${JSON.stringify(changes)} ${answer.text}`);
    const fields = answer.error().details?.problems?.map((problem) => problem.field);
    assert.ok(fields?.includes(field), `${JSON.stringify(changes)}: ${String(fields)}`);
  }
  const context = { logs: 'x'.repeat(100 * 1024 + 1) };
  const answer = await api.ask(path, { method: 'POST', body: { pattern, testContext: context } });
  assert.equal(answer.error().details?.problems?.[0]?.field, 'testContext.logs');
});

test('is allowed while nothing may be changed, and counts as costly', async () => {
  await using api = await startApi({ settings: { readOnly: true, costlyRequestsPerMinute: 1 } });
  const ask = async (): Promise<number> => (await api.ask(path, { method: 'POST', body: { pattern } })).status;
  assert.deepEqual([await ask(), await ask()], [200, 429]);
});

/** It has so many states that each letter of the log is a thousand steps. */
const slow = { logPattern: '(?:a?){999}b' };

test('gives up a pattern that takes too long, and tries the next', async () => {
  await using api = await startApi();
  const body = { pattern: { ...pattern, match: slow }, testContext: { logs: 'a'.repeat(100 * 1024) } };
  const asked = api.ask(path, { method: 'POST', body });
  const ended = asked.then(() => true);
  let turns = 0;
  // Whether it answers or not, its budget passes as soon as the thread has begun with it.
  while (!(await Promise.race([ended, api.clock.advance(2_000).then(() => false)]))) turns += 1;
  const answer = await asked;
  assert.equal(answer.status, 400, `${turns} ${answer.text}`);
  assert.equal(answer.error().details?.problems?.[0]?.field, 'pattern.match');
  const next = await api.ask(path, { method: 'POST', body: { pattern } });
  assert.equal(next.status, 200, next.text);
});

test('tells the next caller to come again when too many wait', async () => {
  const thread = { waiting: 8, run: () => assert.fail('it is not even asked'), isOverBudget: () => false };
  const question = {
    match: {},
    suggestion: '',
    facts: { exitCode: 1, reasons: [], log: undefined, events: [] },
    values: {},
  };
  await assert.rejects(testPattern(thread, question), { code: 'RATE_LIMITED', status: 429 });
});
