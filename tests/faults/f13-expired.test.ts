import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { FaultScript } from '@cronjob-monitor/simcluster';
import type { MonitorProcess } from '../servers/index.ts';
import { untilAllRecorded } from './checker/index.ts';
import { timesOf } from './harness/counts.ts';
import { completeStatus, putCronJob, putJob, runningStatus, setJobStatus, slotNumber } from './harness/objects.ts';
import { benchOfSuite } from './harness/service-bench.ts';

const path = /^\/apis\/batch\/v1\/jobs$/;
/** More than a page, so that every list has to go on. */
const present = 700;

/** The ways in which a server says that a version is too old, each with what makes the client ask. `inList`: in the middle of a list. */
const formsOf = (inList: FaultScript): Readonly<Record<string, readonly FaultScript[]>> => ({
  'as the answer to a watch': [{ target: { verb: 'watch', path }, effect: { kind: 'answer', code: 410 }, times: 1 }],
  'as an ERROR event of a watch': [{ target: { verb: 'watch', path }, effect: { kind: 'expire' }, times: 1 }],
  'in the middle of a list': [
    { target: { verb: 'watch', path }, effect: { kind: 'answer', code: 410 }, times: 1 },
    { ...inList, times: 1 },
  ],
  'in the middle of every list': [
    { target: { verb: 'watch', path }, effect: { kind: 'answer', code: 410 }, times: 1 },
    inList,
  ],
});

const inPage: FaultScript = {
  target: { verb: 'list', path, query: 'continue=' },
  effect: { kind: 'answer', code: 410 },
};
const inStream: FaultScript = {
  target: { verb: 'watch', path, query: 'sendInitialEvents=true' },
  effect: { kind: 'expire', lines: present / 2 },
};

/** F13: 410 in all its forms, where lists are streamed and where they come in pages. */
for (const [how, streamsLists, inList] of [
  ['streamed', true, inStream],
  ['in pages', false, inPage],
] as const) {
  describe(`F13, a version that is too old, lists ${how}`, () => expires(streamsLists, formsOf(inList)));
}

function expires(streamsLists: boolean, forms: ReturnType<typeof formsOf>): void {
  const bench = benchOfSuite({ controllers: false, streamsLists });
  let slots = 0;
  let ended = 0;

  for (const [form, faults] of Object.entries(forms)) {
    test(`${form}: everything is listed again, and nothing is lost or doubled`, async () => {
      const { sim, proxy, service, reader, store } = bench();
      for (let time = timesOf({ ci: 2, soak: 30 }); time > 0; time--) {
        await restart(service); // it has nothing to back off from
        const owner = putCronJob(sim, `expired-${++slots}`);
        const add = (): string =>
          putJob(sim, owner, { slotAt: slotNumber(++slots), status: runningStatus() }).metadata.name;
        const end = (name: string): void => {
          setJobStatus(sim, name, completeStatus());
          ended++;
        };
        for (let more = present - ended; more > 0; more--) end(add());
        const running = [add(), add(), add()];
        await untilAllRecorded(reader, store, { over: ended, withinMs: 30_000 });
        const listsBefore = (await service.metric('cronjob_monitor_watch_lists_total', { resource: 'jobs' })) ?? 0;

        // What a watch would tell happens in the moment in which there is none, and is forgotten.
        proxy.reset();
        for (const name of [...running, add()]) end(name);
        const set = faults.map((fault) => sim.fault(fault));
        sim.compact();

        await untilAllRecorded(reader, store, { over: ended, withinMs: 40_000 });
        assert.ok(
          set.every(({ hits }) => hits > 0),
          'each fault struck',
        );
        const lists = (await service.metric('cronjob_monitor_watch_lists_total', { resource: 'jobs' })) ?? 0;
        assert.ok(lists > listsBefore);
        for (const fault of set) fault.remove();
      }
    });
  }
}

async function restart(service: MonitorProcess): Promise<void> {
  await service.end();
  await service.startReady();
  await service.untilLeading();
}
