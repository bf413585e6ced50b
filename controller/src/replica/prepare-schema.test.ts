import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { beat, getLeader, openStore, type Store } from '@cronjob-monitor/shared/store';
import { aTemporaryFolder, FakeClock, RecordingLogger } from '@cronjob-monitor/shared/testing';
import { isHopeless, prepareSchema, takeFile } from './prepare-schema.ts';

const leaseMs = 15_000;
const never = new AbortController().signal;

test('of two that look at a new file before either writes one takes it, and the other ends with a sentence', async (t) => {
  const { clock, aProcess } = aFile(t);
  const [first, second] = [aProcess('first'), aProcess('second')];
  const [seenByFirst, seenBySecond] = [await prepareSchema(first, never), await prepareSchema(second, never)];
  assert.equal(await takeFile(first, seenByFirst, never), 1);
  const taking = takeFile(second, seenBySecond, never);
  const refusal = assert.rejects(taking, (error) => {
    assert.match(String(error), /another process \(first\) writes to this database file; end it first/);
    return isHopeless(error);
  });
  await passing(clock, refusal, () => beatOf(first, true));
  assert.equal((await getLeader(first.store)).holder, 'first');
});

test('one that took the file and died before its first sign of life is followed by the other', async (t) => {
  const { clock, aProcess } = aFile(t);
  const [first, second] = [aProcess('first'), aProcess('second')];
  const [seenByFirst, seenBySecond] = [await prepareSchema(first, never), await prepareSchema(second, never)];
  await takeFile(first, seenByFirst, never);
  assert.equal(await passing(clock, takeFile(second, seenBySecond, never)), 2);
});

test('one that ended in order is not waited for', async (t) => {
  const { clock, aProcess } = aFile(t);
  const [first, second] = [aProcess('first'), aProcess('second')];
  const seenBySecond = await prepareSchema(second, never);
  await takeFile(first, await prepareSchema(first, never), never);
  await clock.advance(10);
  await beatOf(first, true);
  await clock.advance(10);
  await beatOf(first, false);
  const beganAt = clock.now();
  assert.equal(await takeFile(second, seenBySecond, never), 2);
  assert.equal(clock.now(), beganAt);
});

function aFile(t: TestContext) {
  const clock = new FakeClock();
  const logger = new RecordingLogger();
  const path = join(aTemporaryFolder(t), 'monitor.db');
  const aProcess = (identity: string) => {
    const store = openStore({ type: 'sqlite', path }, { clock, log: logger });
    t.after(() => store.close());
    return { store, clock, logger, settings: { isFileStorage: true, identity, leaseMs, version: 'test' } };
  };
  return { clock, aProcess };
}

async function beatOf(of: { store: Store; settings: { identity: string } }, leading: boolean): Promise<void> {
  const at = of.store.now();
  await beat(of.store, {
    holder: of.settings.identity,
    version: 'test',
    leading,
    epoch: leading ? 1 : undefined,
    startedAt: at,
    beatAt: at,
    schedulers: [],
    evaluatedAt: undefined,
    figures: {},
  });
}

/** Lets time pass, a third of a second at once, until the promise is settled. */
async function passing<V>(clock: FakeClock, promise: Promise<V>, meanwhile?: () => Promise<void>): Promise<V> {
  const of = { isSettled: false };
  const settle = () => void (of.isSettled = true);
  promise.then(settle, settle);
  while (!of.isSettled) {
    await new Promise(setImmediate);
    await meanwhile?.();
    await clock.advance(300);
  }
  return promise;
}
