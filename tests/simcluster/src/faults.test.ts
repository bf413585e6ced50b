import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { aCronJob, startTrial, type Trial } from './trial-cluster.ts';

const cronJobs = '/apis/batch/v1/namespaces/default/cronjobs';

/** The text of a watch until it ends or breaks. */
async function watched({ ask }: Trial, query = ''): Promise<string> {
  return ask('GET', `${cronJobs}?watch=1&resourceVersion=0${query}`).then(
    ({ text }) => text,
    (error: unknown) => `broken: ${error instanceof Error ? error.message : String(error)}`,
  );
}

const typesOf = (text: string): string[] =>
  text
    .trim()
    .split('\n')
    .map((line) => (JSON.parse(line) as { type: string }).type);

describe('scripted faults', () => {
  test('answer in place of the server, only what they are aimed at, only as often as they say', async (t) => {
    const { cluster, ask } = await startTrial(t);
    const fault = cluster.fault({
      target: { verb: 'list', path: '/cronjobs' },
      effect: { kind: 'answer', code: 500 },
      times: 2,
    });
    assert.equal((await ask('GET', `${cronJobs}/none`)).status, 404);
    const first = await ask('GET', cronJobs);
    assert.deepEqual([first.status, first.body.reason, first.body.kind], [500, 'InternalError', 'Status']);
    assert.equal((await ask('GET', cronJobs)).status, 500);
    assert.equal((await ask('GET', cronJobs)).status, 200);
    assert.equal(fault.hits, 2);
  });

  test('let the first requests pass when told so, and end when they are removed', async (t) => {
    const { cluster, ask } = await startTrial(t);
    const fault = cluster.fault({ effect: { kind: 'answer', code: 409 }, skip: 1 });
    const statuses = [(await ask('GET', cronJobs)).status, (await ask('GET', cronJobs)).status];
    fault.remove();
    statuses.push((await ask('GET', cronJobs)).status);
    assert.deepEqual(statuses, [200, 409, 200]);
  });

  test('say when to come again', async (t) => {
    const { cluster, ask } = await startTrial(t);
    cluster.fault({ effect: { kind: 'answer', code: 429, retryAfterSeconds: 7 } });
    const { status, headers, text } = await ask('GET', cronJobs);
    assert.deepEqual(
      [status, headers.get('retry-after'), text],
      [429, '7', 'Too many requests, please try again later.\n'],
    );
    cluster.clearFaults();
    assert.equal((await ask('GET', cronJobs)).status, 200);
  });

  test('hang, break off, or take their time', async (t) => {
    const { cluster, clock, ask } = await startTrial(t);
    cluster.fault({ target: { query: 'limit=1' }, effect: { kind: 'hang' } });
    cluster.fault({ target: { query: 'limit=2' }, effect: { kind: 'disconnect' } });
    cluster.fault({ target: { query: 'limit=3' }, effect: { kind: 'slow', delayMs: 5_000 } });
    const abort = AbortSignal.timeout(100);
    const hanging = fetch(new URL(`${cronJobs}?limit=1`, cluster.url), { signal: abort });
    await assert.rejects(hanging, { name: 'TimeoutError' });
    await assert.rejects(ask('GET', `${cronJobs}?limit=2`));
    let answered = false;
    const slow = ask('GET', `${cronJobs}?limit=3`).finally(() => (answered = true));
    await new Promise((resolve) => setTimeout(resolve, 50));
    assert.equal(answered, false);
    clock.advanceBy(5_000);
    assert.equal((await slow).status, 200);
  });

  test('cut a watch in the middle of a line', async (t) => {
    const trial = await startTrial(t);
    trial.cluster.objects.put(aCronJob({ name: 'a' }));
    trial.cluster.objects.put(aCronJob({ name: 'b' }));
    trial.cluster.fault({ target: { verb: 'watch' }, effect: { kind: 'cutMidLine', line: 2 } });
    assert.match(await watched(trial), /^broken/);
  });

  test('put a line of garbage into a watch', async (t) => {
    const trial = await startTrial(t);
    trial.cluster.objects.put(aCronJob());
    trial.cluster.fault({ target: { verb: 'watch' }, effect: { kind: 'garbageLine', text: 'oops' } });
    const text = watched(trial, '&timeoutSeconds=1');
    await trial.untilWatches(1);
    trial.clock.advanceBy(1_000);
    const lines = (await text).trim().split('\n');
    assert.equal(lines[0], 'oops');
    assert.equal((JSON.parse(lines[1] ?? '') as { type: string }).type, 'ADDED');
  });

  test('end a watch as too old', async (t) => {
    const trial = await startTrial(t);
    trial.cluster.objects.put(aCronJob());
    trial.cluster.fault({ target: { verb: 'watch' }, effect: { kind: 'expire', lines: 1 } });
    const text = watched(trial);
    await trial.untilWatches(1);
    trial.cluster.objects.put(aCronJob({ name: 'b' }));
    assert.deepEqual(typesOf(await text), ['ADDED', 'ERROR']);
  });

  test('open a watch that brings nothing', async (t) => {
    const { cluster, untilWatches } = await startTrial(t);
    cluster.fault({ target: { verb: 'watch' }, effect: { kind: 'halfOpen' } });
    const response = await fetch(new URL(`${cronJobs}?watch=1`, cluster.url), {
      headers: { authorization: 'Bearer administrator' },
    });
    await untilWatches(1);
    cluster.objects.put(aCronJob());
    const first = await Promise.race([
      response.body?.getReader().read(),
      new Promise((resolve) => setTimeout(resolve, 50, 'silence')),
    ]);
    assert.deepEqual([response.status, first], [200, 'silence']);
  });

  test('let lists at version 0 lag behind, and no others', async (t) => {
    const { cluster, ask } = await startTrial(t);
    cluster.objects.put(aCronJob({ name: 'a' }));
    cluster.fault({ effect: { kind: 'stale' } });
    cluster.objects.put(aCronJob({ name: 'b' }));
    assert.equal((await ask('GET', `${cronJobs}?resourceVersion=0`)).body.items.length, 1);
    assert.equal((await ask('GET', cronJobs)).body.items.length, 2);
  });
});
