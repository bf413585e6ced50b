import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { constants, getPriority, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const command = fileURLToPath(new URL('test.mjs', import.meta.url));
const testing = new URL('../shared/src/testing/index.ts', import.meta.url).href;

/** Runs the command over a project of these test files; each begins with the imports they need. */
function run(t, files, { names = [], ci = false } = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'cronjob-monitor-test-'));
  t.after(() => rmSync(folder, { recursive: true }));
  for (const [path, source] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), `import { describe, test } from 'node:test';\n${source}`);
  }
  const { NODE_TEST_CONTEXT: _, ...env } = { ...process.env, CI: String(ci) };
  const { status, stdout, stderr } = spawnSync(process.execPath, [command, ...names], {
    cwd: folder,
    env,
    encoding: 'utf8',
  });
  const lines = stdout.trimEnd().split('\n');
  const summary = () => JSON.parse(readFileSync(join(folder, '.test-output', 'summary.json'), 'utf8'));
  const written = () => readdirSync(folder);
  return { folder, status, stdout, stderr, lines, last: lines.at(-1), summary, written };
}

const good = `test('holds', () => {});`;
const bad = `describe('suite', () => { test('breaks', () => { console.log('a clue'); throw new Error('broken'); }); });`;
const skipping = (what) => `
  import { testsNeeding } from '${testing}';
  const needing = testsNeeding('${what}', 'it is not installed');
  needing.before(() => { throw new Error('nothing to prepare'); });
  needing.test('one', () => {});
  needing.test('two', () => {});`;

test('counts what passed, and ends with 0', (t) => {
  const { status, last, summary } = run(t, { 'shared/src/a.test.ts': good, 'tests/store/b.test.ts': good });
  assert.equal(last, '2 passed, 0 failed, 0 skipped');
  assert.equal(status, 0);
  assert.deepEqual(
    summary().groups.map(({ name, passed }) => [name, passed]),
    [
      ['beside the source', 1],
      ['store', 1],
    ],
  );
});

test('groups of which one waits while the other computes run together where both run whole, and alone where one is asked for', (t) => {
  const files = {
    'tests/truth/a.test.ts': good,
    'tests/chart/a.test.ts': good,
    'tests/realnode/split.test.ts': good,
    'tests/realnode/b.test.ts': bad,
  };
  const namesOf = ({ summary }) => summary().groups.map(({ name, passed }) => [name, passed]);
  assert.deepEqual(namesOf(run(t, files, { names: ['all'] })), [['chart, truth, node', 3]]);
  assert.deepEqual(namesOf(run(t, files, { names: ['truth'] })), [['truth', 1]]);
  assert.deepEqual(namesOf(run(t, files, { names: ['truth', 'node'] })), [['truth, node', 2]]);
  assert.deepEqual(namesOf(run(t, files, { names: ['node', 'truth/a'] })), [
    ['truth', 1],
    ['node', 1],
  ]);
});

test('the browser leaves the processors to the processes that it runs beside, and takes them where it runs alone', (t) => {
  const askPriority = `
    import { writeFileSync } from 'node:fs';
    import { getPriority } from 'node:os';
    test('asks', () => writeFileSync('priority', String(getPriority())));`;
  const files = { 'tests/e2e/ui/a.test.ts': askPriority, 'tests/e2e/b.test.ts': good };
  const priorityOf = (names) => {
    const { summary, folder } = run(t, files, { names });
    return [summary().groups.map(({ name }) => name), Number(readFileSync(join(folder, 'priority'), 'utf8'))];
  };
  assert.deepEqual(priorityOf(['browser']), [['browser'], getPriority()]);
  assert.deepEqual(priorityOf(['all']), [['browser, e2e'], constants.priority.PRIORITY_BELOW_NORMAL]);
});

test('the image is built beside what needs none of it, before the node, and never beside the faults', (t) => {
  const files = {
    'tests/e2e/a.test.ts': good,
    'tests/faults/f1-a.test.ts': good,
    'tests/realnode/image.test.ts': good,
    'tests/realnode/split.test.ts': good,
  };
  const namesOf = (names) =>
    run(t, files, { names })
      .summary()
      .groups.map(({ name, passed }) => [name, passed]);
  assert.deepEqual(namesOf(['all']), [
    ['image, e2e', 2],
    ['faults', 1],
    ['node', 1],
  ]);
  assert.deepEqual(namesOf(['node']), [['image, node', 2]]);
  assert.deepEqual(namesOf(['faults']), [['faults', 1]]);
});

test('files that wait run beside those of their group that compute, and fail as they do', (t) => {
  /** Ends when all of the others have begun: one after the other they would wait for ever. */
  const meeting = (name, others) => `
    import { existsSync, writeFileSync } from 'node:fs';
    import { setTimeout as wait } from 'node:timers/promises';
    test('meets the others', { timeout: 60_000 }, async () => {
      writeFileSync(${JSON.stringify(name)}, '');
      while (!${JSON.stringify(others)}.every((other) => existsSync(other))) await wait(20);
    });`;
  const waiting = { 'tests/faults/f14-a.test.ts': 'c', 'tests/faults/f32-b.test.ts': 'd' };
  const computing = {
    'tests/faults/f1-a.test.ts': 'a',
    'tests/faults/f2-b.test.ts': 'b',
    'tests/faults/f3-c.test.ts': 'e',
  };
  const all = { ...waiting, ...computing };
  const files = Object.fromEntries(
    Object.entries(all).map(([path, name]) => [path, meeting(name, Object.values(all))]),
  );
  const { summary } = run(t, { ...files, 'tests/faults/f19-bad.test.ts': bad }, { names: ['faults'] });
  assert.deepEqual(
    summary().groups.map(({ name, passed, failed }) => [name, passed, failed]),
    [['faults', 5, 1]],
  );
});

test('tells a failure with its file, line, message and output, and ends with 1', (t) => {
  const { status, last, stdout, summary } = run(t, { 'shared/src/a.test.ts': bad, 'shared/src/b.test.ts': good });
  assert.equal(last, '1 passed, 1 failed, 0 skipped');
  assert.equal(status, 1);
  assert.match(stdout, /FAILED shared\/src\/a\.test\.ts:2 › suite › breaks\n {2}Error: broken/);
  assert.match(stdout, /it wrote:\n {4}a clue/);
  assert.equal(summary().failures.length, 1);
});

test('the summary says for each file how long it took, how long a processor worked for it, and what it printed', (t) => {
  const busy = `test('computes', () => { for (const from = Date.now(); Date.now() - from < 300; ); console.log('took 300 ms'); });`;
  const { summary } = run(t, { 'shared/src/a.test.ts': busy });
  const { slowest, printed } = summary();
  const [{ file, seconds, processorSeconds }] = slowest;
  assert.equal(file, 'shared/src/a.test.ts');
  assert.ok(seconds >= 0.3);
  if (process.platform === 'linux')
    assert.ok(processorSeconds > 0.05 && processorSeconds < 60, `${processorSeconds} s`);
  assert.deepEqual(printed, { 'shared/src/a.test.ts': ['took 300 ms'] });
});

test('a file that cannot be loaded, that holds no test, or that leaks is a failure', (t) => {
  const { last, stdout } = run(t, {
    'shared/src/broken.test.ts': `throw new Error('cannot load');`,
    'shared/src/empty.test.ts': '',
    'shared/src/leaks.test.ts': `test('leaks', () => { setInterval(() => {}, 1000); });`,
  });
  assert.equal(last, '1 passed, 3 failed, 0 skipped');
  assert.match(stdout, /FAILED shared\/src\/broken\.test\.ts › the whole file\n[^]*cannot load/);
  assert.match(stdout, /FAILED shared\/src\/empty\.test\.ts › the whole file\n {2}the file holds no test/);
  assert.match(stdout, /leaves behind: Timeout x1/);
});

test('files that share a process are told as if each had one of its own', (t) => {
  const process = `import { writeFileSync } from 'node:fs'; test('writes', () => writeFileSync(\`pid-\${process.pid}\`, ''));`;
  const together = run(t, { 'shared/src/a.test.ts': process, 'shared/src/b.test.ts': process });
  assert.equal(together.last, '2 passed, 0 failed, 0 skipped');
  assert.equal(together.written().filter((name) => name.startsWith('pid-')).length, 1);
  assert.deepEqual(
    together
      .summary()
      .slowest.map(({ file }) => file)
      .sort(),
    ['shared/src/a.test.ts', 'shared/src/b.test.ts'],
  );
  const hooked = `import { beforeEach } from 'node:test';\nbeforeEach(() => { throw new Error('not for the others'); });`;
  const { last } = run(t, {
    'shared/src/a.test.ts': good,
    'shared/src/b.test.ts': good,
    'shared/src/c.test.ts': hooked + bad,
  });
  assert.equal(last, '2 passed, 1 failed, 0 skipped');
});

test('where files that share a process fail, each is run alone, and that counts', (t) => {
  const spoils = `globalThis.spoilt = true;\n${good}`;
  const suffers = `test('is alone', () => { if (globalThis.spoilt) throw new Error('spoilt by a neighbour'); });`;
  const files = { 'shared/src/a.test.ts': spoils, 'shared/src/b.test.ts': suffers, 'shared/src/c.test.ts': good };
  const told = run(t, files);
  assert.equal(told.last, '3 passed, 0 failed, 0 skipped');
  assert.match(
    told.stdout,
    /^failed beside others of its process, which are run alone now: shared\/src\/b\.test\.ts › is alone$/m,
  );
  const dies = run(t, {
    ...files,
    'shared/src/d.test.ts': `test('dies', () => process.kill(process.pid, 'SIGKILL'));`,
  });
  assert.equal(dies.last, '3 passed, 1 failed, 0 skipped');
  assert.match(dies.stdout, /FAILED shared\/src\/d\.test\.ts › the whole file/);
});

test('tells what was skipped, how many tests and why', (t) => {
  const files = {
    'tests/e2e/ui/a.test.ts': skipping('browser'),
    'tests/store/b.test.ts': `describe('store', { skip: 'MariaDB: no server' }, () => {});\n${good}`,
    'tests/store/c.test.ts': `test('alone', { skip: 'not today' }, () => {});`,
  };
  const { status, lines } = run(t, files, { names: ['all'] });
  assert.deepEqual(lines.slice(-4), [
    'SKIPPED MariaDB, 1 test: no server',
    'SKIPPED alone, 1 test: not today',
    'SKIPPED browser, 2 tests: it is not installed',
    '1 passed, 0 failed, 4 skipped',
  ]);
  assert.equal(status, 0);
});

test('on the build machine a skip is a failure, but for what no package brings', (t) => {
  const files = { 'tests/store/a.test.ts': skipping('MySQL 8'), 'tests/store/b.test.ts': skipping('MariaDB') };
  const { status, last } = run(t, files, { ci: true });
  assert.equal(last, '0 passed, 2 failed, 2 skipped');
  assert.equal(status, 1);
});

test('on the build machine a file that fails is run once more, and told as unstable when it passes then', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'cronjob-monitor-attempts-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const passesAtSecond = `
    import { existsSync, writeFileSync } from 'node:fs';
    const mark = '${join(folder, 'mark')}';
    test('stumbles', () => { if (!existsSync(mark)) { writeFileSync(mark, ''); throw new Error('too late'); } });`;
  const files = { 'tests/faults/a.test.ts': passesAtSecond, 'tests/faults/b.test.ts': good };
  const { status, stdout, lines, last, summary } = run(t, files, { names: ['faults'], ci: true });
  assert.equal(last, '2 passed, 0 failed, 0 skipped');
  assert.equal(status, 0);
  assert.match(
    stdout,
    /FAILED tests\/faults\/a\.test\.ts:[^]*too late[^]*once more, alone: tests\/faults\/a\.test\.ts/,
  );
  assert.match(
    lines.at(-2),
    /^UNSTABLE tests\/faults\/a\.test\.ts: passed at the second attempt; at the first failed stumbles$/,
  );
  assert.equal(summary().unstable.length, 1);
  const again = run(
    t,
    { 'tests/faults/a.test.ts': bad, 'tests/faults/b.test.ts': good },
    { names: ['faults'], ci: true },
  );
  assert.equal(again.last, '1 passed, 1 failed, 0 skipped');
  assert.equal(again.status, 1);
  assert.deepEqual(again.summary().unstable, []);
});

test('a build in which many files fail is broken, and none is run once more', (t) => {
  const files = Object.fromEntries(
    Array.from({ length: 11 }, (_, number) => `file-${number}`).map((letter) => [`shared/src/${letter}.test.ts`, bad]),
  );
  const { last, stdout } = run(t, files, { ci: true });
  assert.equal(last, '0 passed, 11 failed, 0 skipped');
  assert.doesNotMatch(stdout, /once more/);
});

test('without a name the everyday suites run, and `all` runs every one', (t) => {
  const files = { 'shared/src/a.test.ts': good, 'tests/e2e/ui/journeys.test.ts': good, 'tests/faults/b.test.ts': good };
  assert.equal(run(t, files).last, '2 passed, 0 failed, 0 skipped');
  assert.equal(run(t, files, { names: ['all'] }).last, '3 passed, 0 failed, 0 skipped');
});

test('a name runs the group of that name, or the files that have it in their path', (t) => {
  const files = { 'shared/src/store/a.test.ts': good, 'tests/store/b.test.ts': good, 'tests/store/c.test.ts': good };
  assert.equal(run(t, files, { names: ['store'] }).last, '2 passed, 0 failed, 0 skipped');
  assert.equal(run(t, files, { names: ['shared/src/store', 'b.test'] }).last, '2 passed, 0 failed, 0 skipped');
  const { status, stderr } = run(t, files, { names: ['nothing'] });
  assert.equal(status, 1);
  assert.match(stderr, /no suite is called nothing; there are: all, beside the source, /);
});

test('an interrupted run tells which files had not ended', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'cronjob-monitor-test-'));
  t.after(() => rmSync(folder, { recursive: true }));
  mkdirSync(join(folder, 'shared', 'src'), { recursive: true });
  writeFileSync(join(folder, 'shared', 'src', 'a.test.ts'), `import { test } from 'node:test';\n${good}`);
  const hangs = `import { test } from 'node:test';\ntest('hangs', () => new Promise((resolve) => setTimeout(resolve, 60_000)));`;
  const tell = `import { writeFileSync } from 'node:fs';\nwriteFileSync('${join(folder, 'hangs')}', '');`;
  writeFileSync(join(folder, 'shared', 'src', 'b.test.ts'), `${hangs}\n${tell}`);
  const { NODE_TEST_CONTEXT: _, ...env } = process.env;
  const child = spawn(process.execPath, [command], { cwd: folder, env, stdio: ['ignore', 'pipe', 'inherit'] });
  let text = '';
  child.stdout.setEncoding('utf8').on('data', (piece) => (text += piece));
  const closed = new Promise((resolve) => child.on('close', resolve));
  while (!existsSync(join(folder, 'hangs'))) await new Promise((resolve) => setTimeout(resolve, 50));
  child.kill('SIGTERM');
  const status = await closed;
  assert.equal(status, 130);
  assert.match(text, /^SIGTERM: not at their end were .*shared\/src\/b\.test\.ts$/m);
});
