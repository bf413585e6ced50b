// How long no message leaves when a leader dies or goes, and whether clients notice a rolling restart of both tiers. Lease as
// by default: 15 s, renewed for 10 s, asked for each 2 s.
import { Agent, request } from 'node:http';
import { cpus, loadavg } from 'node:os';
import { setTimeout as wait } from 'node:timers/promises';
import type { ServerSettings } from '@cronjob-monitor/shared/store';
import { until, usualLease } from '../faults/harness/bench.ts';
import { killableDatabases } from '../faults/harness/database-servers.ts';
import { ledSince, startReplicas, type ReplicaOptions } from '../faults/harness/replicas.ts';
import { Shift } from '../faults/harness/shift.ts';
import { watchProcessors } from '../faults/harness/taken-time.ts';
import type { MonitorProcess } from '../servers/index.ts';
import { Report } from './report.ts';
import { shippedProgram } from './shipped.ts';

const rounds = Number(process.env['BENCH_ROUNDS'] ?? 5);
/** SIGKILL and SIGTERM, or one of them. */
const signals = process.env['BENCH_SIGNALS']?.split(',') ?? ['SIGKILL', 'SIGTERM'];
/** What takes longer has failed, and is no figure. */
const sendsAtLastMs = 180_000;
const withRollout = process.env['BENCH_ROLLOUT'] !== 'false';
/** The next message is late by the time until the next failure, on average half of what lies between two. */
const failingPerSecond = 10;
/** A round rarely takes longer: the wait before it, the end, and the start of the one that ended. */
const roundSeconds = 15;
/** Rounds for which CronJobs are made together. */
const roundsTogether = 5;
const replicas = 3;
const readsPerSecond = 50;
const failingPerMinute = 20;
/** Kubernetes takes so long to tell all nodes that a pod is ending. */
const toldAfterMs = 1_000;
/** Between two pods of a rollout. */
const settlesMs = 5_000;

for (const { name, skip, start } of killableDatabases()) {
  const report = new Report(
    'failover',
    `${replicas} controllers and ${replicas} apiservers, ${name}, simulated API server`,
  );
  // Each on replicas of its own: what may come twice after a kill must not excuse a rollout.
  const measures = [measureSuccessions, ...(withRollout ? [measureRollout] : [])];
  for (const measure of skip === undefined ? measures : []) {
    const server = await start();
    const shift = new Shift(await startReplicas(whatShips(server.settings)), server, 1);
    try {
      shift.keepAlive();
      await measure(shift, report);
      // What is lost ends it here: the comparison throws.
      const { alerts, twice } = await shift.settle({ diagnostic: (text) => report.note(text) });
      report.figure(`messages that came twice, of ${alerts} alerts`, twice, '', shift.mayComeTwice);
    } finally {
      await shift.close();
    }
  }
  if (skip !== undefined) report.note(skip);
  report.end();
}

function whatShips(settings: ServerSettings): ReplicaOptions {
  return { settings, config: usualLease, program: shippedProgram('controller') };
}

async function measureSuccessions(shift: Shift, report: Report): Promise<void> {
  if (signals.includes('SIGKILL')) await measureSuccession(shift, 'SIGKILL', 5, report);
  if (signals.includes('SIGTERM')) await measureSuccession(shift, 'SIGTERM', 0.5, report);
  report.note(`load of the machine over the last 15 min: ${loadavg()[2]?.toFixed(1)} on ${cpus().length} cores`);
}

/** From the end of the leader to the next message of another one, while some CronJobs fail each second. */
async function measureSuccession(
  shift: Shift,
  signal: 'SIGKILL' | 'SIGTERM',
  budgetS: number,
  report: Report,
): Promise<void> {
  const leaderless: number[] = [];
  const gaps: number[] = [];
  /** What remains of each without the time for which others had the processors. */
  const undisturbed: number[] = [];
  for (let done = 0; done < rounds; done += roundsTogether) {
    const together = Math.min(roundsTogether, rounds - done);
    const incidents = await shift.alerts(together * roundSeconds * failingPerSecond, failingPerSecond);
    for (let round = 0; round < together; round++) {
      await shift.untilAllReady();
      const leader = await shift.bench.untilLed();
      await wait(2_000);
      const others = shift.bench.replicas.filter((one) => one !== leader).map(({ process }) => process);
      const takenMs = watchProcessors(others);
      const endsAt = Date.now();
      shift.senderGone();
      const ending = leader.process.end(signal);
      const gapMs = (await shift.untilSuccessorSends(leader, sendsAtLastMs)) - endsAt;
      gaps.push(gapMs / 1_000);
      undisturbed.push(Math.max(0, gapMs - takenMs()) / 1_000);
      console.log(
        `  ${signal} ${gaps.length}: ${gapMs} ms, ${Math.round(takenMs())} ms of it others had the processors`,
      );
      leaderless.push((ledSince(await shift.bench.untilLed(leader)) - endsAt) / 1_000);
      await ending;
    }
    incidents.stop();
    await incidents.over();
  }
  report.figure(`${signal} of the leader until another leads: p50 of ${rounds}`, rank(leaderless, 0.5), 's');
  report.figure(`${signal} of the leader until the next message: p50 of ${rounds}`, rank(gaps, 0.5), 's');
  report.figure(`${signal} of the leader until the next message: p99`, rank(gaps, 0.99), 's', budgetS);
  report.figure(`${signal} of the leader until the next message: longest`, rank(gaps, 1), 's');
  const ofOthers = 'without the time others had the processors';
  report.figure(`${signal} until the next message, ${ofOthers}: p99`, rank(undisturbed, 0.99), 's');
}

/** Nearest rank: of n sorted values the one at position ceil(share x n). */
function rank(values: readonly number[], share: number): number {
  return values.toSorted((a, b) => a - b)[Math.ceil(share * values.length) - 1] ?? NaN;
}

/** One pod after the other gets its SIGTERM and is made anew, while CronJobs fail and the API is read through a service. */
async function measureRollout(shift: Shift, report: Report): Promise<void> {
  const { bench, server } = shift;
  const apiservers: MonitorProcess[] = [];
  for (let number = 0; number < replicas; number++) {
    // What makes it think that it is a pod: it then serves on for a while when it is told to end.
    const env = { KUBERNETES_SERVICE_HOST: '127.0.0.1', KUBERNETES_SERVICE_PORT: new URL(bench.sim.url).port };
    apiservers.push(
      await bench.prepare({
        entryPoint: 'apiserver',
        program: shippedProgram('apiserver'),
        storage: server.settings,
        env,
      }),
    );
  }
  await Promise.all(apiservers.map((one) => one.startReady()));
  const reads = readThroughService(apiservers);
  const begunAt = Date.now();
  const incidents = await shift.alerts(60, failingPerMinute / 60);
  for (const replica of bench.replicas) {
    const { code } = await replica.process.end('SIGTERM');
    if (code !== 0) throw new Error(replica.process.tail());
    await shift.untilAllReady();
    await wait(settlesMs);
  }
  for (const apiserver of apiservers) {
    const ending = apiserver.end('SIGTERM');
    await wait(toldAfterMs);
    reads.leave(apiserver);
    await ending;
    apiserver.start();
    await until('it is ready', async () => (await apiserver.readiness()).status === 200);
    reads.join(apiserver);
    await wait(settlesMs);
  }
  report.note(`the rollout took ${Math.round((Date.now() - begunAt) / 1_000)} s`);
  const { asked, failed } = await reads.end();
  await incidents.over();
  report.figure(`reads that failed, of ${asked}`, failed.length, '', 0);
  if (failed.length > 0) report.note([...new Set(failed)].join('; '));
}

/** Reads at a steady rate on connections that stay open, of those that belong to the service. */
function readThroughService(all: readonly MonitorProcess[]) {
  const belonging = new Set(all);
  const agents = new Map(all.map((one) => [one, new Agent({ keepAlive: true })]));
  const paths = ['/api/v1/stats', '/api/v1/cronjobs?limit=50', '/api/v1/alerts', '/api/v1/deliveries?limit=20'];
  const over = new AbortController();
  const failed: string[] = [];
  const asked: Promise<void>[] = [];
  const ask = (url: string, agent: Agent | undefined): Promise<void> => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const sent = request(url, { agent, timeout: 10_000 }, (answer) => {
      if (answer.statusCode !== 200) failed.push(`${url}: ${answer.statusCode}`);
      answer.resume().on('end', resolve).on('error', resolve);
    });
    sent.on('timeout', () => sent.destroy(new Error('no answer within 10 s')));
    sent.on('error', (error) => {
      failed.push(`${url}: ${error.message}`);
      resolve();
    });
    sent.end();
    return promise;
  };
  const reading = (async () => {
    for (let number = 0; !over.signal.aborted; number++) {
      const one = [...belonging][number % belonging.size];
      if (one) asked.push(ask(one.api + (paths[number % paths.length] ?? ''), agents.get(one)));
      await wait(1_000 / readsPerSecond);
    }
  })();
  return {
    leave: (one: MonitorProcess) => void belonging.delete(one),
    join: (one: MonitorProcess) => void belonging.add(one),
    async end() {
      over.abort();
      await reading;
      await Promise.all(asked);
      for (const agent of agents.values()) agent.destroy();
      return { asked: asked.length, failed };
    },
  };
}
