import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createCluster, type RawObject } from '@cronjob-monitor/shared/kube';
import { systemClock } from '@cronjob-monitor/shared/process';
import { RecordingLogger } from '@cronjob-monitor/shared/testing';
import type { FaultEffect } from '@cronjob-monitor/simcluster';
import { ListOffer, ObjectCache, Reflector, type Projected } from '../../controller/src/runtime/index.ts';
import { untilAllRecorded } from './checker/index.ts';
import { listsAt, until } from './harness/bench.ts';
import { timesOf } from './harness/counts.ts';
import { completeStatus, putCronJob, putJob, runningStatus, setJobStatus, slotNumber } from './harness/objects.ts';
import { benchOfSuite } from './harness/service-bench.ts';

const path = /^\/apis\/batch\/v1\/jobs$/;
const listedWithinMs = 10_000;
/** Failures in a row wait 30 s each at most: breaks of the connection, of this round and of those before it, and the version that is too old. */
const mostWaitedMs = 150_000;

/** Each line hides the event that it stands for, or says nothing that can be understood. */
const broken: Readonly<Record<string, FaultEffect>> = {
  'cut in its middle': { kind: 'cutMidLine', line: 2 },
  'of garbage': { kind: 'garbageLine', line: 2, text: '{"type":"MODIFIED","object":{"kind":' },
  'of an object that is none': { kind: 'garbageLine', line: 2, text: '{"type":"ADDED","object":{"metadata":{}}}' },
};

const inPages = process.env['LISTS'] === 'pages' && 'lists come in pages';

/** F16: lines that cannot be read, handlers that throw. */
describe('F16, what a watch brings is broken', () => {
  const bench = benchOfSuite({ controllers: false });
  const rounds = timesOf({ ci: 2, soak: 30 });
  let slots = 0;
  let over = 0;

  for (const [line, effect] of Object.entries(broken)) {
    test(`a line ${line}: nothing is lost, and a list follows within 10 s`, async (t) => {
      const { sim, proxy, service, reader, store } = bench();
      const owner = putCronJob(sim, `broken-${Object.keys(broken).indexOf(line)}`);
      const add = (): string =>
        putJob(sim, owner, { slotAt: slotNumber(++slots), status: runningStatus() }).metadata.name;
      const end = (name: string): void => {
        setJobStatus(sim, name, completeStatus());
        over++;
      };
      for (let round = 0; round < rounds; round++) {
        const names = [add(), add(), add()];
        await untilAllRecorded(reader, store, { over, withinMs: 10_000 });
        const unreadable = await counted('unreadable_lines');
        const lists = sim.fault({ target: listsAt(path), effect: { kind: 'slow', delayMs: 0 } });
        const fault = sim.fault({ target: { verb: 'watch', path }, effect, times: 1 });
        t.after(() => [lists, fault].forEach((one) => one.remove())); // of a round that fails, so that the next test does not
        proxy.reset();
        await until('the fault strikes', () => fault.hits === 1, mostWaitedMs);
        const struckAt = performance.now();
        for (const name of names) end(name);
        if (effect.kind === 'garbageLine') {
          await until('the list', () => lists.hits > 0, listedWithinMs + 2_000);
          const tookMs = performance.now() - struckAt;
          t.diagnostic(`listed after ${Math.round(tookMs)} ms`);
          assert.ok(tookMs <= listedWithinMs);
          assert.equal(await counted('unreadable_lines'), unreadable + 1);
        }
        await untilAllRecorded(reader, store, { over, withinMs: 40_000 });
        // An event that was lost is followed by a list: it would take the place of the next watch, which is the one to be struck.
        if ((await counted('unreadable_lines')) > unreadable)
          await until('the list', () => lists.hits > 0, mostWaitedMs);
        lists.remove();
      }
      async function counted(what: string): Promise<number> {
        return (await service.metric(`cronjob_monitor_watch_${what}_total`, { resource: 'jobs' })) ?? NaN;
      }
    });
  }

  for (const [what, effect] of Object.entries({
    ...broken,
    'of an end too early': { kind: 'expire', lines: 2 },
  } as const)) {
    test(
      `a line ${what} in a streamed list: nothing is lost, and nothing is taken for deleted`,
      { skip: inPages },
      async (t) => {
        const { sim, proxy, service, reader, store } = bench();
        const owner = putCronJob(sim, `listed-${Object.keys(broken).indexOf(what)}`);
        for (let round = 0; round < rounds; round++) {
          await service.end();
          await service.startReady(); // what failed before is forgotten: lists are streamed again
          await service.untilLeading();
          const names = Array.from(
            { length: 4 },
            () => putJob(sim, owner, { slotAt: slotNumber(++slots), status: runningStatus() }).metadata.name,
          );
          await untilAllRecorded(reader, store, { over, withinMs: 10_000 });
          // What a watch would tell happens in the moment in which there is none, and is forgotten.
          proxy.reset();
          for (const name of names.slice(1)) setJobStatus(sim, name, completeStatus());
          over += names.length - 1;
          const target = { verb: 'watch', path, query: 'sendInitialEvents=true' };
          const fault = sim.fault({ target, effect, times: 1 });
          t.after(() => fault.remove());
          sim.compact();
          await until('the fault strikes', () => fault.hits === 1, mostWaitedMs);
          await untilAllRecorded(reader, store, { over, withinMs: 40_000 });
          setJobStatus(sim, names[0] ?? '', completeStatus());
          over += 1;
          await untilAllRecorded(reader, store, { over, withinMs: 40_000 });
          fault.remove();
        }
      },
    );
  }

  test('a handler that throws is counted, and neither the others nor the stream notice', async () => {
    const { sim, kubeconfig } = bench();
    const logger = new RecordingLogger();
    const client = createCluster({ kubeconfig, clock: systemClock, logger });
    const seen = new Map<string, string>();
    let failures = 0;
    let thrown = 0;
    const reflector = new Reflector<Seen>({
      cluster: client,
      listOffer: new ListOffer(client),
      cache: new ObjectCache({}),
      clock: systemClock,
      logger,
      projection: { kind: 'Job', project: toSeen },
      handlers: [
        () => {
          if (++thrown % 3 === 0) throw new Error('a fault of this handler');
        },
        ({ item }) => void seen.set(item.uid, item.version),
      ],
      metrics: { listed() {}, restarted() {}, unreadableLine() {}, handlerFailed: () => (failures += 1) },
    });
    const stop = new AbortController();
    const running = reflector.run(stop.signal);
    await until('the first list', () => reflector.state.synced);
    const owner = putCronJob(sim, 'throwing');
    const made = Array.from({ length: 60 }, () =>
      putJob(sim, owner, { slotAt: slotNumber(++slots), status: runningStatus() }),
    );
    await until('all of them', () => made.every(({ metadata }) => seen.get(metadata.uid) === metadata.resourceVersion));
    assert.equal(failures, Math.floor(thrown / 3));
    assert.ok(failures >= 20);
    stop.abort();
    await running;
    await client.close();
  });
});

interface Seen extends Projected {
  readonly version: string;
}

function toSeen(raw: RawObject): Seen {
  const { uid, name, namespace, resourceVersion } = raw['metadata'] as Record<string, string>;
  return { uid: uid ?? '', name: name ?? '', namespace: namespace ?? '', version: resourceVersion ?? '' };
}
