import assert from 'node:assert/strict';
import { rename, writeFile } from 'node:fs/promises';
import { after, before, describe, test } from 'node:test';
import { join } from 'node:path';
import type { Store } from '@cronjob-monitor/shared/store';
import type { MonitorProcess } from '../servers/index.ts';
import { JobReader, openBeside, untilAllRecorded } from './checker/index.ts';
import { namespace, startBench, until, type Bench } from './harness/bench.ts';
import { timesOf } from './harness/counts.ts';
import { completeStatus, putCronJob, putJob, runningStatus, setJobStatus, slotNumber } from './harness/objects.ts';

const retryAfterSeconds = 7;
const jobsPath = '/apis/batch/v1/jobs';

/** F15: a token that holds no longer, and a server that asks for patience. */
describe('F15, refused by the API server', () => {
  let bench: Bench;
  let service: MonitorProcess;
  let reader: JobReader;
  let store: Store;
  let slots = 0;
  let over = 0;
  /** When each request about all Jobs was sent. */
  const asked: number[] = [];

  before(async () => {
    bench = await startBench({ controllers: false, token: 'of-the-test', user: { tokenFile: 'token' } });
    await useToken('first');
    bench.proxy.inspect(({ direction, bytes }) => {
      if (direction === 'toServer' && bytes.includes(`GET ${jobsPath}?`)) asked.push(performance.now());
      return 'pass';
    });
    service = await bench.prepare({});
    await service.startReady();
    await service.untilLeading();
    reader = await JobReader.start({ url: bench.sim.url, token: 'of-the-test' }, namespace);
    store = openBeside(bench.sqlite());
  });
  after(async () => {
    await reader.stop();
    await store.close();
    await bench.close();
  });

  /** As a kubelet rotates it: another file takes its place. */
  async function useToken(token: string): Promise<void> {
    bench.sim.addToken(token, { name: 'monitor', uid: 'monitor', groups: ['system:masters'] });
    await writeFile(join(bench.folder, 'next'), token);
    await rename(join(bench.folder, 'next'), join(bench.folder, 'token'));
  }

  function runAJob(): () => void {
    const owner = putCronJob(bench.sim, `refused-${++slots}`);
    const job = putJob(bench.sim, owner, { slotAt: slotNumber(slots), status: runningStatus() });
    return () => {
      setJobStatus(bench.sim, job.metadata.name, completeStatus());
      over++;
    };
  }

  for (let time = 1; time <= timesOf({ ci: 1, soak: 10 }); time++) {
    test(`401, then a rotated token: it is read again, and nothing is lost (${time})`, async () => {
      const end = runAJob();
      bench.sim.removeToken(time === 1 ? 'first' : `token-${time - 1}`);
      bench.proxy.reset();
      end();
      await until('it is refused', () => service.log.some(({ problem }) => String(problem).includes('unauthorized')));
      await useToken(`token-${time}`);
      // The longest back-off is 30 s.
      await untilAllRecorded(reader, store, { over, withinMs: 40_000 });
    });

    test(`429 with Retry-After 7: it waits at least 7 s, and nothing is lost (${time})`, async (t) => {
      for (const [verb, code] of [
        ['watch', 429],
        ['watch', 503],
      ] as const) {
        const end = runAJob();
        const fault = bench.sim.fault({
          target: { verb, path: /^\/apis\/batch\/v1\/jobs$/ },
          effect: { kind: 'answer', code, retryAfterSeconds },
          times: 1,
        });
        bench.proxy.reset();
        end();
        await until('the fault strikes', () => fault.hits === 1, 40_000);
        const struckAt = asked.at(-1) ?? NaN;
        await untilAllRecorded(reader, store, { over, withinMs: 60_000 });
        const next = asked.find((at) => at > struckAt) ?? NaN;
        t.diagnostic(`asked again ${Math.round(next - struckAt)} ms after ${code}`);
        assert.ok(next - struckAt >= retryAfterSeconds * 1000);
      }
    });
  }
});
