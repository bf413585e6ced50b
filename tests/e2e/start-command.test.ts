import assert from 'node:assert/strict';
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test, type TestContext } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { aTemporaryFolder, kubeconfigText } from '@cronjob-monitor/shared/testing';
import { createClock, createSimCluster, type SimCluster } from '@cronjob-monitor/simcluster';
import { parse } from 'yaml';
import { findFreePort } from '../servers/index.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
/** Installing nothing, building the page when it is old, and the start. */
const upWithinMs = 240_000;
const endWithinMs = 45_000;

/** [what is ended, how: given the npm process and its group] */
const endings: [string, (npm: ChildProcess) => void][] = [
  ['SIGTERM to npm', (npm) => void npm.kill('SIGTERM')],
  ['SIGINT to the whole group, as Ctrl-C sends it,', ({ pid = 0 }) => void process.kill(-pid, 'SIGINT')],
  [
    'SIGTERM to npm and at once to the group',
    (npm) => {
      npm.kill('SIGTERM');
      process.kill(-(npm.pid ?? 0), 'SIGTERM');
    },
  ],
  ['npm killed', (npm) => void npm.kill('SIGKILL')],
];

describe('the command of the README', () => {
  let sim: SimCluster;
  before(async () => {
    sim = createSimCluster({ clock: createClock() });
    for (const kind of ['cronjobmonitors', 'alertchannels'])
      sim.objects.put(
        parse(readFileSync(join(root, `charts/cronjob-monitor/crds/${kind}.yaml`), 'utf8')) as Record<string, unknown>,
      );
    await sim.start();
  });
  after(() => sim.stop());

  async function start(t: TestContext) {
    const folder = aTemporaryFolder(t);
    const kubeconfig = join(folder, 'kubeconfig');
    writeFileSync(kubeconfig, kubeconfigText({ server: sim.url, namespace: 'default' }));
    const port = await findFreePort();
    const [command = '', ...args] = readmeCommand('npm start -- --kubeconfig').split(' ');
    const flags = [kubeconfig, `--ui.port=${port}`, `--storage.sqlite.path=${folder}/a.db`, '--log-level=info'];
    // A group of its own, as a terminal gives to what is typed into it.
    const npm = spawn(command, [...args, ...flags], { cwd: root, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
    const ended = once(npm, 'exit');
    let text = '';
    for (const stream of [npm.stdout, npm.stderr]) stream.setEncoding('utf8').on('data', (piece) => (text += piece));
    const isRunning = (): string[] => processesWith(`--ui.port=${port}`);
    t.after(() => {
      for (const pid of isRunning()) process.kill(Number(pid), 'SIGKILL');
    });
    const isUp = () => /^ {2}cronjob-monitor {3}http/m.test(text);
    await within(upWithinMs, () => isUp() || npm.exitCode !== null);
    assert.ok(isUp(), text);
    return { npm, ended, isRunning, output: () => text };
  }

  for (const [name, end] of endings) {
    test(`${name} ends it in order, and leaves no process behind`, async (t) => {
      const { npm, ended, isRunning, output } = await start(t);
      assert.ok(isRunning().length > 2, 'npm, what it runs, and the service');
      end(npm);
      await ended;
      await within(endWithinMs, () => isRunning().length === 0);
      assert.deepEqual(isRunning(), [], output());
      assert.equal(output().match(/a signal, the process stops/g)?.length, 1, output());
      assert.doesNotMatch(output(), /a second signal|the stop failed|takes too long/);
    });
  }
});

/** As the README writes it, up to where its reader fills in a file. */
function readmeCommand(begin: string): string {
  const line = readFileSync(join(root, 'README.md'), 'utf8')
    .split('\n')
    .find((one) => one.startsWith(begin));
  assert.ok(line !== undefined, `the README has no line ${begin}`);
  return begin;
}

async function within(ms: number, isDone: () => boolean): Promise<void> {
  for (const endMs = performance.now() + ms; !isDone() && performance.now() < endMs;) await wait(100);
}

/** Ids of the processes of this machine that were started with that argument. */
function processesWith(argument: string): string[] {
  return readdirSync('/proc').filter((entry) => {
    if (!/^\d+$/.test(entry)) return false;
    try {
      return readFileSync(`/proc/${entry}/cmdline`, 'utf8').split('\0').includes(argument);
    } catch {
      return false; // it has ended meanwhile
    }
  });
}
