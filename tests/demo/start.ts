import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { loadOrExplain } from '@cronjob-monitor/shared/config';
import { createClock, createSimCluster } from '@cronjob-monitor/simcluster';
import { parse } from 'yaml';
import { fleet } from './fleet.ts';
import { buildPage } from './build-page.ts';
import { beginningOf, liveThroughHistory } from './history.ts';
import { monitorObjects } from './objects.ts';
import { takeFolder } from './one-start.ts';
import { pagesAddress } from './pages-address.ts';
import { receiverFlags, startReceivers } from './receivers.ts';

/** What `npm start` runs: the service against a simulated cluster with a past, or against the cluster of `--kubeconfig FILE`. */
const root = fileURLToPath(new URL('../..', import.meta.url));
const dataFolder = join(root, '.data');
const passed = process.argv.slice(2);
const kubeconfigGiven = passed.some((argument) => /^--(cluster\.)?kubeconfig(=|$)/.test(argument));

mkdirSync(dataFolder, { recursive: true });
const database = join(dataFolder, kubeconfigGiven ? 'monitor.db' : 'demo.db');
const flags = [
  '--storage.sqlite.path',
  database,
  ...(kubeconfigGiven ? [] : [...receiverFlags, '--cluster.name=demo', '--scheduler.startup-grace-period=5s']),
  '--storage.log-storage-enabled',
  '--storage.event-storage-enabled',
  '--log-format=text',
  '--log-level=warn',
  '--api.host=127.0.0.1',
  '--probes.bind-address=127.0.0.1:0',
  '--metrics.bind-address=0',
  ...passed.map((argument) => argument.replace(/^--kubeconfig/, '--cluster.kubeconfig')),
];
// What cannot work is told now, not after the simulation.
const start = loadOrExplain({ entryPoint: 'standalone', argv: flags });
if ('exitStatus' in start) process.exit(start.exitStatus);
if (start.loaded.config['ui.port'] === 0) {
  console.error('ui.port = 0: the address of the pages could not be told; allowed here: 1 to 65535');
  process.exit(2);
}
const pages = pagesAddress(start.loaded);

const refusal = kubeconfigGiven ? undefined : takeFolder(dataFolder, pages ?? 'without pages');
if (refusal !== undefined) {
  console.error(refusal);
  process.exit(1);
}
const stop = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => stop.abort());
const [cluster] = await Promise.all([kubeconfigGiven ? undefined : simulate(database), buildPage(stop.signal)]);
if (stop.signal.aborted) {
  await cluster?.stop();
  process.exit(0);
}
console.log('Starting the service …');
const startedMs = performance.now();
const kubeconfig = cluster ? ['--cluster.kubeconfig', cluster.kubeconfig] : [];

const service = spawn(process.execPath, [join(root, 'controller/src/bin/standalone.ts'), ...kubeconfig, ...flags], {
  stdio: ['ignore', 'inherit', 'inherit'],
});

if (pages === undefined) console.log('It serves no pages and no API: ui.enabled is false. Ctrl-C ends it.');
else void sayWhere(pages);

stop.signal.addEventListener('abort', () => service.kill('SIGTERM'));
service.on('exit', (code, signal) => void end(code ?? (signal ? 0 : 1)));

async function simulate(databasePath: string): Promise<{ kubeconfig: string; stop: () => Promise<void> }> {
  for (const suffix of ['', '-wal', '-shm']) rmSync(databasePath + suffix, { force: true });
  const nowAt = Math.floor(Date.now() / 1000) * 1000;
  const beginning = beginningOf(dataFolder, nowAt);
  const clock = createClock(beginning.at);
  const nodes = ['node-1', 'node-2', 'node-3'];
  // What continues a history draws other names and uids than what began it.
  const seed = beginning.objects ? Math.floor(beginning.at / 1000) : 7;
  const sim = createSimCluster({ clock, token: 'demo', nodes, schedulePods: true, seed });
  for (const kind of ['cronjobmonitors', 'alertchannels']) {
    sim.objects.put(
      parse(readFileSync(join(root, `charts/cronjob-monitor/crds/${kind}.yaml`), 'utf8')) as Record<string, unknown>,
    );
  }

  const span = spanOf(nowAt - beginning.at);
  console.log(
    beginning.objects
      ? `Simulating the ${span} since the last start of a cluster with ${fleet.length} CronJobs …`
      : `Simulating ${span} of a cluster with ${fleet.length} CronJobs, once, which takes some ten seconds …`,
  );
  const simulatedFromMs = performance.now();
  const runs = await liveThroughHistory({ cluster: sim, clock }, beginning, {
    folder: dataFolder,
    databasePath,
    nowAt,
  });
  const receivers = await startReceivers(sim);
  for (const object of monitorObjects()) sim.objects.put(object);
  // The weeks took a few seconds: the cluster catches up with them, and then time passes by itself.
  clock.advanceTo(Date.now());
  clock.follow();
  await sim.start();
  console.log(`Simulated ${span}: ${runs} runs in ${secondsSince(simulatedFromMs)} s.`);

  const folder = mkdtempSync(join(tmpdir(), 'cronjob-monitor-'));
  const path = join(folder, 'kubeconfig');
  writeFileSync(path, kubeconfigOf(sim.url), { mode: 0o600 });
  return {
    kubeconfig: path,
    stop: async () => {
      await sim.stop();
      await receivers.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function spanOf(ms: number): string {
  const hours = Math.round(ms / 3_600_000);
  if (hours >= 48) return `${Math.round(hours / 24)} days`;
  return hours >= 2 ? `${hours} hours` : `${Math.max(1, Math.round(ms / 60_000))} minutes`;
}

function secondsSince(ms: number): string {
  return ((performance.now() - ms) / 1000).toFixed(1);
}

function kubeconfigOf(server: string): string {
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'simulated',
    clusters: [{ name: 'simulated', cluster: { server } }],
    contexts: [{ name: 'simulated', context: { cluster: 'simulated', user: 'demo', namespace: 'default' } }],
    users: [{ name: 'demo', user: { token: 'demo' } }],
  });
}

async function sayWhere(url: string): Promise<void> {
  for (let tries = 0; tries < 300; tries++) {
    const isUp = await fetch(`${url}api/v1/health`).then(
      (answer) => answer.ok,
      () => false,
    );
    if (isUp) {
      console.log(`The service is up after ${secondsSince(startedMs)} s.`);
      console.log(`\n  cronjob-monitor   ${url}`);
      console.log(
        cluster
          ? '  It watches a simulated cluster. For a real one: npm start -- --kubeconfig FILE'
          : '  It watches the cluster of your kubeconfig.',
      );
      if (cluster) console.log('  Messages to its two receivers are shown here as they arrive.');
      console.log('  Ctrl-C ends it.\n');
      return;
    }
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
}

async function end(code: number): Promise<void> {
  await cluster?.stop();
  process.exit(code);
}
