import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';

import { ClusterError } from '@cronjob-monitor/shared/kube';
import { FakeClock, RecordingLogger } from '@cronjob-monitor/shared/testing';

import { Circuit } from './circuit.ts';
import { type ComeBack, ReconcileLoop, type ReconcileLoopDeps, TerminalError } from './reconcile-loop.ts';
import { WorkQueue } from './work-queue.ts';

const away = Object.assign(new Error('no connection'), { code: 'unavailable' });
const busy = Object.assign(new Error('locked'), { code: 'busy' });
const fenced = Object.assign(new Error('another leads'), { code: 'fenced' });
const conflict = new ClusterError('conflict', { verb: 'patch', resource: 'cronjobmonitors', message: 'was changed' });

interface SetUp {
  readonly reconcile: (key: string, signal: AbortSignal) => Promise<ComeBack>;
  readonly batch?: NonNullable<ReconcileLoopDeps<string>['batch']>;
  readonly workers?: number;
  readonly probe?: () => Promise<void>;
}

function setUp(t: TestContext, options: SetUp) {
  const clock = new FakeClock();
  const logger = new RecordingLogger();
  const term = new AbortController();
  const results: string[] = [];
  const lost: unknown[] = [];
  const runs: string[] = [];
  const random = () => 0.5;
  const queue = new WorkQueue<string>({ clock, metrics: { added() {}, waited() {}, worked() {} } });
  const circuit = new Circuit({ clock, logger, random, signal: term.signal, probe: options.probe ?? (async () => {}) });
  const loop = new ReconcileLoop<string>({
    queue,
    circuit,
    clock,
    logger,
    random,
    workers: options.workers ?? 1,
    metrics: { reconciled: (result) => results.push(result) },
    reconcile: (key, signal) => {
      runs.push(key);
      return options.reconcile(key, signal);
    },
    ...(options.batch ? { batch: options.batch } : {}),
    isDatabaseAway: (error) => error === away || error === busy,
    isFenced: (error) => error === fenced,
    onFenced: (error) => lost.push(error),
  });
  t.after(async () => {
    term.abort();
    const drained = queue.drain(0);
    await clock.advance(0);
    await drained;
  });
  return {
    clock,
    logger,
    queue,
    circuit,
    loop,
    results,
    runs,
    lost,
    term,
    start: (...keys: string[]) => loop.start(keys, term.signal),
  };
}

/** Throws these errors one after the other, then succeeds. */
function failing(...errors: unknown[]): SetUp['reconcile'] {
  return async () => {
    if (errors.length > 0) throw errors.shift();
    return undefined;
  };
}

test('nothing comes back from a success without an instant; the seed runs first', async (t) => {
  const { clock, start, runs, results } = setUp(t, { reconcile: async () => undefined });
  start('a', 'b');
  await clock.advance(2_000_000);
  assert.deepEqual(runs, ['a', 'b']);
  assert.deepEqual(results, ['success', 'success']);
});

test('an instant brings the key back then', async (t) => {
  const times: number[] = [];
  const { clock, start } = setUp(t, {
    reconcile: async () => {
      times.push(clock.now());
      return times.length === 1 ? clock.now() + 90_000 : undefined;
    },
  });
  start('a');
  await clock.advance(200_000);
  assert.deepEqual(
    times.map((at) => at - (times[0] ?? 0)),
    [0, 90_000],
  );
});

test('throwing means back-off, and success forgets it', async (t) => {
  const { clock, start, runs, results, queue, logger } = setUp(t, {
    reconcile: failing(new Error('a'), new Error('b')),
  });
  start('a');
  await clock.advance(5);
  assert.equal(runs.length, 2);
  await clock.advance(10);
  assert.deepEqual(results, ['error', 'error', 'success']);
  assert.equal(queue.failuresOf('a'), 0);
  assert.equal(logger.lines.filter(({ level }) => level === 'warn').length, 2);
});

test('a TerminalError is not tried again', async (t) => {
  const { clock, start, runs, results, logger } = setUp(t, { reconcile: failing(new TerminalError('no such zone')) });
  start('a');
  await clock.advance(2_000_000);
  assert.deepEqual(runs, ['a']);
  assert.deepEqual(results, ['error']);
  assert.equal(logger.lines.filter(({ level }) => level === 'error').length, 1);
});

test('a conflict is queued again and not counted', async (t) => {
  const conflicts = Array.from({ length: 20 }, () => conflict);
  const { clock, start, results, queue, logger } = setUp(t, { reconcile: failing(...conflicts) });
  start('a');
  await clock.advance(20 * 100);
  assert.equal(results.filter((result) => result === 'requeue').length, 20);
  assert.equal(results.at(-1), 'success', 'the twentieth conflict waits no longer than the first');
  assert.equal(queue.failuresOf('a'), 0);
  assert.equal(logger.lines.length, 0);
});

test('as many keys as there are workers are in work at once, and never the same twice', async (t) => {
  const releases: (() => void)[] = [];
  const inWork = new Set<string>();
  const { clock, start, queue } = setUp(t, {
    workers: 3,
    reconcile: (key) => {
      assert.ok(!inWork.has(key), `${key} is in work already`);
      inWork.add(key);
      return new Promise((resolve) => {
        releases.push(() => {
          inWork.delete(key);
          resolve(undefined);
        });
      });
    },
  });
  start('a', 'b', 'c', 'd', 'e');
  await clock.advance(0);
  assert.deepEqual([...inWork], ['a', 'b', 'c']);
  queue.add('a');
  releases.splice(0).forEach((release) => release());
  await clock.advance(0);
  assert.equal(inWork.size, 3);
  assert.ok(inWork.has('a'), 'once more after the change that came meanwhile');
  releases.splice(0).forEach((release) => release());
});

test('a database that is away stops all work, is probed every 1-5 s, and then all keys come back at once', async (t) => {
  let isAway = true;
  const probes: number[] = [];
  const { clock, start, runs, queue, circuit, logger } = setUp(t, {
    workers: 2,
    probe: async () => {
      probes.push(clock.monotonicMs());
      if (isAway) throw away;
    },
    reconcile: async () => {
      if (isAway) throw away;
      return undefined;
    },
  });
  const startedAtMs = clock.monotonicMs();
  start('a', 'b', 'c', 'd');
  await clock.advance(600_000);
  assert.deepEqual(runs, ['a', 'b'], 'one try for each worker, then they wait');
  assert.equal(queue.depth, 2, 'the others stay where they are counted as waiting');
  assert.equal(circuit.isOpen, true);
  assert.equal(circuit.openForMs, 600_000);
  assert.deepEqual(
    probes.slice(0, 2).map((atMs) => atMs - startedAtMs),
    [3_000, 6_000],
  );
  isAway = false;
  await clock.advance(3_000 + 2_000);
  assert.deepEqual(runs.slice(2).sort(), ['a', 'b', 'c', 'd']);
  assert.equal(queue.failuresOf('a'), 0, 'nothing was wrong with the key');
  assert.deepEqual(
    logger.lines.map(({ message }) => message),
    ['the database is away, work waits for it', 'the database is back'],
  );
  assert.deepEqual(logger.lines[0]?.fields, { reason: 'unavailable' }, 'never the text of a driver');
});

test('a database that answers with a lock is busy, and is not said to be away', async (t) => {
  let tries = 0;
  const { clock, start, runs, logger } = setUp(t, {
    probe: async () => {},
    reconcile: async () => {
      tries++;
      if (tries === 1) throw busy;
      return undefined;
    },
  });
  start('a');
  await clock.advance(5_000);
  assert.deepEqual(runs, ['a', 'a']);
  assert.deepEqual(
    logger.lines.map(({ message }) => message),
    ['the database is busy, work waits for it', 'the database is back'],
  );
});

test('a key that the database turned away again is held again', async (t) => {
  let tries = 0;
  const { clock, start, runs } = setUp(t, {
    reconcile: async () => {
      tries += 1;
      if (tries <= 5) throw away;
      return undefined;
    },
  });
  start('a');
  await clock.advance(5 * 4_000);
  assert.equal(runs.length, 6);
});

test('a fenced transaction ends the term and drops the key', async (t) => {
  const { clock, start, runs, results, lost } = setUp(t, { reconcile: failing(fenced) });
  start('a');
  await clock.advance(2_000_000);
  assert.deepEqual(lost, [fenced]);
  assert.deepEqual(runs, ['a']);
  assert.deepEqual(results, []);
});

test('when the term is over no worker takes another key, and a failure is no failure of the key', async (t) => {
  const { clock, start, runs, results, term } = setUp(t, {
    reconcile: (_key, signal) =>
      new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
  });
  start('a', 'b');
  await clock.advance(0);
  term.abort();
  await clock.advance(60_000);
  assert.deepEqual(runs, ['a']);
  assert.deepEqual(results, []);
});

test('stopping works off what waits, takes nothing new, and says whether all was done', async (t) => {
  const { clock, start, loop, runs, queue } = setUp(t, { reconcile: async () => clock.now() + 1_000 });
  start('a', 'b');
  const stopped = loop.stop();
  queue.add('c');
  assert.equal(await stopped, true);
  assert.deepEqual(runs, ['a', 'b']);
  assert.equal(clock.sleepers, 0, 'what would come back is dropped');
});

test('stopping while the database is away ends after 2 s and says so', async (t) => {
  const { clock, start, loop } = setUp(t, { reconcile: failing(away), probe: async () => Promise.reject(away) });
  start('a', 'b');
  await clock.advance(100);
  const stopped = loop.stop();
  await clock.advance(2_000);
  assert.equal(await stopped, false);
});

test('what was not worked off in time is begun no more', async (t) => {
  const begun: string[] = [];
  const { clock, start, loop } = setUp(t, {
    workers: 1,
    reconcile: async (key) => {
      begun.push(key);
      await clock.sleep(1_500);
      return undefined;
    },
  });
  start('a', 'b', 'c', 'd');
  await clock.advance(10);
  const stopped = loop.stop();
  await clock.advance(2_000);
  assert.equal(await stopped, false);
  await clock.advance(60_000);
  assert.deepEqual(begun, ['a', 'b']);
});

test('a key that the database turned away is not counted as worked off', async (t) => {
  const { clock, start, loop } = setUp(t, { reconcile: failing(away), probe: async () => Promise.reject(away) });
  start('a');
  await clock.advance(100);
  assert.equal(await loop.stop(), false);
});

test('a deep queue goes in batches, a shallow one key by key', async (t) => {
  const batches: (readonly string[])[] = [];
  const batch = {
    max: 100,
    reconcile: async (keys: readonly string[]) => {
      batches.push(keys);
      return new Map<string, ComeBack>(keys.map((key) => [key, undefined]));
    },
  };
  const { clock, start, runs, results, queue } = setUp(t, { reconcile: async () => undefined, batch });
  start(...Array.from({ length: 250 }, (_, n) => `job-${n}`));
  await clock.advance(0);
  assert.deepEqual(
    batches.map((keys) => keys.length),
    [100, 100, 50],
  );
  assert.equal(results.length, 250);
  queue.add('alone');
  await clock.advance(0);
  assert.deepEqual(runs, ['alone']);
});

test('a batch brings keys back, and leaves to single work what it left out', async (t) => {
  const { clock, start, runs } = setUp(t, {
    reconcile: async () => undefined,
    batch: { max: 10, reconcile: async () => new Map<string, ComeBack>([['a', clock.now() + 7_000]]) },
  });
  start('a', 'b');
  await clock.advance(0);
  assert.deepEqual(runs, ['b']);
  await clock.advance(7_000);
  assert.deepEqual(runs, ['b', 'a']);
});

test('one poisoned key does not spoil its batch', async (t) => {
  const { clock, start, results, queue, runs } = setUp(t, {
    reconcile: async (key) => {
      if (key === 'bad') throw new Error('cannot be recorded');
      return undefined;
    },
    batch: { max: 10, reconcile: async () => Promise.reject(new Error('cannot be recorded')) },
  });
  start('a', 'bad', 'c');
  await clock.advance(0);
  assert.deepEqual(runs, ['a', 'bad', 'c']);
  assert.deepEqual(results, ['success', 'error', 'success']);
  assert.equal(queue.failuresOf('bad'), 1);
  assert.equal(queue.failuresOf('a'), 0);
});

test('a batch without a database is held whole', async (t) => {
  let isAway = true;
  const { clock, start, runs, results, circuit } = setUp(t, {
    reconcile: async () => undefined,
    batch: {
      max: 10,
      reconcile: async (keys) => {
        if (isAway) throw away;
        return new Map<string, ComeBack>(keys.map((key) => [key, undefined]));
      },
    },
  });
  start('a', 'b', 'c');
  await clock.advance(0);
  assert.equal(circuit.isOpen, true);
  assert.deepEqual(runs, []);
  isAway = false;
  await clock.advance(3_000 + 2_000);
  assert.deepEqual(results, ['error', 'error', 'error', 'success', 'success', 'success']);
  assert.equal(circuit.isOpen, false);
});

test('a database that goes away while a failed batch is taken apart stops that too', async (t) => {
  const { clock, start, runs } = setUp(t, {
    reconcile: async () => Promise.reject(away),
    probe: async () => Promise.reject(away),
    batch: { max: 10, reconcile: async () => Promise.reject(new Error('cannot be recorded')) },
  });
  start('a', 'b', 'c');
  await clock.advance(60_000);
  assert.deepEqual(runs, ['a']);
});
