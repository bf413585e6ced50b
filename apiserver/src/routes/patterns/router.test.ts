import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PatternTestResult } from '@cronjob-monitor/shared/contract';
import { testPattern } from '../../actions/test-pattern.ts';
import { startApi } from '../../testing/api.ts';
import { startFleet } from '../../testing/fleet.ts';
import { ReviewingCluster } from '../../testing/reviewing-cluster.ts';

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
    chain: null,
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
    chain: null,
  });
});

/** Patterns of a monitor `prod/dr` beside the built-in ones. */
async function aMonitorWith(patterns: readonly object[], options: Parameters<typeof startFleet>[0] = {}) {
  const fleet = await startFleet(options);
  await fleet.addMonitor({ spec: { alerting: { suggestedFixPatterns: patterns } } }, []);
  return fleet;
}

const own = [
  {
    name: 'team-killed',
    match: { exitCode: 137 },
    suggestion: 'Ask the team about {{ .CronJob.Name }}.',
    priority: 90,
  },
  { name: 'late', match: { exitCode: 9 }, suggestion: 'Never here.', priority: 300 },
  { name: 'broken', match: { logPattern: '(?=a)' }, suggestion: 'Never tried.', priority: 200 },
];
const monitor = { namespace: 'prod', name: 'dr' };
const killed = { cronjobName: 'backup', exitCode: 137, reason: 'OOMKilled' };

test('says which pattern of a monitor wins among its own and the built-in ones, and why', async () => {
  await using fleet = await aMonitorWith(own);
  const ask = async (body: object): Promise<PatternTestResult> => {
    const answer = await fleet.ask(path, { method: 'POST', body: { monitor, testContext: killed, ...body } });
    assert.equal(answer.status, 200, answer.text);
    return answer.json() as PatternTestResult;
  };
  const built = await ask({});
  assert.equal(built.chain?.winner, 'oom-killed', 'a built-in one of a higher priority comes first');
  assert.equal(
    built.chain.why,
    'oom-killed (built in, priority 100) is the first that matches, by reason; 1 pattern before it does not; 1 pattern cannot be used',
  );
  assert.deepEqual(
    built.chain.patterns.slice(0, 2).map(({ name, source, matched }) => [name, source, matched]),
    [
      ['late', 'monitor', false],
      ['oom-killed', 'builtIn', true],
    ],
  );
  assert.match(built.chain.patterns.at(-1)?.problem ?? '', /./, 'what cannot be compiled says why');
  assert.equal(built.matched, true);

  const ofMonitor = await ask({ testContext: { ...killed, reason: 'Error' } });
  assert.deepEqual([ofMonitor.chain?.winner, ofMonitor.suggestion], ['team-killed', 'Ask the team about backup.']);

  const tested = await ask({ pattern: { ...pattern, name: 'late' } });
  assert.deepEqual([tested.chain?.winner, tested.suggestion], ['late', 'Raise the limit of backup.']);
  assert.deepEqual(
    tested.chain?.patterns.filter(({ name }) => name === 'late').map(({ source, priority }) => [source, priority]),
    [['tested', 101]],
    'it stands in the place of the one of its name',
  );

  const none = await ask({ testContext: {} });
  assert.deepEqual([none.matched, none.suggestion, none.criteria, none.chain?.winner], [false, '', [], null]);
  assert.match(none.chain?.why ?? '', /^none of \d+ patterns matches; 1 pattern cannot be used$/);
});

test('says that a pattern of the monitor takes too long', async () => {
  await using fleet = await aMonitorWith([{ ...own[0], name: 'slow', match: slow, priority: 400 }]);
  const body = { monitor, testContext: { logs: 'a'.repeat(100 * 1024) } };
  const asked = fleet.ask(path, { method: 'POST', body });
  const ended = asked.then(() => true);
  while (!(await Promise.race([ended, fleet.clock.advance(2_000).then(() => false)])));
  const [problem] = (await asked).error().details?.problems ?? [];
  assert.equal(problem?.field, 'monitor');
  assert.match(problem.message, /^its patterns? (?:slow takes|take) too long to look for$/);
});

test('tells nothing of a monitor that the caller may not read, and of one that is not there that it is not', async () => {
  const cluster = new ReviewingCluster().grant('dev', 'list cronjobmonitors in dev');
  await using fleet = await aMonitorWith(own, { settings: { authMode: 'token' }, cluster: cluster.asCluster() });
  const ask = (namespace: string) =>
    fleet.ask(path, {
      method: 'POST',
      headers: { Authorization: 'Bearer dev' },
      body: { monitor: { namespace, name: 'dr' }, testContext: killed },
    });
  assert.equal((await ask('prod')).status, 403);
  assert.equal((await ask('dev')).status, 404);
  assert.equal((await ask('De/v')).status, 404);
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
  const neither = await api.ask(path, { method: 'POST', body: {} });
  assert.equal(neither.error().details?.problems?.[0]?.field, 'pattern');
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
  const thread = { waiting: 8, run: () => assert.fail('it is not even asked'), overBudgetAt: () => undefined };
  const question = {
    pattern: undefined,
    ofMonitor: [],
    facts: { exitCode: 1, reasons: [], log: undefined, events: [] },
    values: {},
  };
  await assert.rejects(testPattern(thread, question), { code: 'RATE_LIMITED', status: 429 });
});
