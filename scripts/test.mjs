// Runs the everyday suites, those whose names are given, or `all`; tells each failure, what was skipped and why, and the count.
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join, relative, resolve } from 'node:path';
import { run } from 'node:test';
import { inNode24 } from './in-node-24.mjs';
import { TestBatches } from './test-batches.mjs';
import { TestReport } from './test-report.mjs';

await inNode24();
const { globSync } = await import('node:fs');

/**
 * In this order: what is quick and says most comes first. A file is in the first group that has it. Where files mostly wait, for a lease,
 * a minute, a browser or a process, several run at once; those that `first` finds take longest and begin. `everyday`: a part of
 * `npm test`, which takes ten minutes on two cores and needs nothing but Node; the others need a control plane, another browser run, or
 * minutes of real time. Where both run whole, a group that is `within` another one is a part of it, and one that is `beside` others runs at
 * the same time as the first of them that does, so many files at once of each: one computes while the other waits. Files that `waits` finds
 * have hardly any use for a processor, by the summary's `processorSeconds`: they run beside the rest of their group, two at once. `partOf`:
 * chosen with that group too. `ofProcess`: so many files share a process. `givesWay`: beside others it has the processors that they leave.
 * The image is built beside what needs none of it, before the node waits for it, and not beside the faults, which keep time.
 */
const groups = [
  {
    name: 'beside the source',
    everyday: true,
    files: '{{shared,controller,apiserver}/src/**/*.test.ts,scripts/**/*.test.mjs}',
    atOnce: 2,
    ofProcess: 12,
  },
  {
    name: 'webui',
    everyday: true,
    beside: ['architecture'],
    files: 'webui/src/**/*.test.ts',
    preload: 'scripts/svelte-modules.mjs',
    ofProcess: 12,
  },
  {
    name: 'simcluster',
    everyday: true,
    beside: ['architecture'],
    files: 'tests/simcluster/**/*.test.ts',
    ofProcess: 12,
  },
  { name: 'architecture', everyday: true, files: 'tests/architecture/**/*.test.ts', ofProcess: 12 },
  { name: 'store', everyday: true, beside: ['cluster', 'channels'], files: 'tests/store/**/*.test.ts', atOnce: 2 },
  {
    name: 'api',
    everyday: true,
    files: 'tests/api/**/*.test.ts',
    atOnce: 3,
    first: /\/(schemathesis|elsewhere|joint-statements)\./,
  },
  { name: 'channels', everyday: true, beside: ['cluster'], files: 'tests/channels/**/*.test.ts', atOnce: 3 },
  { name: 'cluster', files: 'tests/{cluster,realcluster}/**/*.test.ts', atOnce: 3, first: /\/contract\./ },
  { name: 'journeys', everyday: true, within: 'browser', files: 'tests/e2e/ui/journeys.test.ts' },
  {
    name: 'browser',
    beside: ['e2e'],
    givesWay: true,
    files: 'tests/e2e/ui/**/*.test.ts',
    atOnce: 2,
    first: /\/pages-/,
  },
  {
    name: 'e2e',
    files: 'tests/e2e/**/*.test.ts',
    atOnce: 5,
    first: /\/(alerting|expected|mail|recording|image|databases|access)/,
  },
  {
    name: 'faults',
    files: 'tests/faults/**/*.test.ts',
    atOnce: 3,
    first: /\/f(5|50|4|30|51|13|1|41|37|38|19|16|14)-/,
    waits: /\/f(14|32|43|21|17|12|19|16|45|34|44|15)-/,
  },
  { name: 'image', partOf: 'node', beside: ['e2e', 'node'], givesWay: true, files: 'tests/realnode/image.test.ts' },
  {
    name: 'truth',
    beside: ['node'],
    givesWay: true,
    files: 'tests/truth/**/*.test.ts',
    atOnce: 3,
    first: /\/(observer\/|agreement\/|levels|told)/,
  },
  { name: 'chart', within: 'truth', files: 'tests/chart/**/*.test.ts', atOnce: 2 },
  { name: 'node', files: 'tests/realnode/**/*.test.ts', atOnce: 3, first: /\/(split|standalone)\./ },
  { name: 'other', beside: ['node'], givesWay: true, files: 'tests/**/*.test.ts', atOnce: 2 },
];

/** What no package brings: where it is missing, even the build machine may skip. A real node is what a kernel or a sandbox refuses. */
const mayBeMissing = ['MySQL 8', 'Docker', 'Go', 'a real node'];

const outputFolder = '.test-output';
/** What a soak is given on top: a suite that is told how long to play is not cut off while it plays. A fleet of the truth takes up to 20 s. */
const soakMs =
  (process.env.FAULTS === 'soak' ? 3 * 3_600_000 : 1_000 * Number(process.env.NEMESIS_SECONDS ?? 0)) +
  60_000 * Number(process.env.TRUTH_MINUTES ?? 0) +
  20_000 * (Number(process.env.FLEETS ?? 0) + Number(process.env.FLEETS_DRAWN ?? 0));
/** Loaded before the files of a group that gives way. */
const lowPriority = 'scripts/low-priority.mjs';
/** A file that takes longer hangs. */
const fileLimitMs = 20 * 60_000 + soakMs;
/** How many files a build may run once more: the suites hold real seconds, and a build machine can stand still for some of them. */
const secondAttempts = 10;
const root = resolve(import.meta.dirname, '..');

/** The name that stands for every suite. */
const everySuite = 'all';
const names = process.argv.slice(2);
const chosen = together(choose(names));
if (chosen.length === 0) {
  console.error(
    `no suite is called ${names.join(' or ')}; there are: ${everySuite}, ${groups.map(({ name }) => name).join(', ')}, and files`,
  );
  process.exit(1);
}

const strict = process.env.CI === 'true';
const report = new TestReport();
mkdirSync(outputFolder, { recursive: true });
/** Every process of a test file says here how long a processor worked for it. */
const processorTimes = resolve(outputFolder, `processor-times-${process.pid}`);
process.env.PROCESSOR_TIME_FILE = processorTimes;
const batchesFolder = resolve(outputFolder, `batches-${process.pid}`);
/** What Node made of the sources it read is kept: a suite starts some thousand processes, a third of whose first second it saves. */
process.env.NODE_COMPILE_CACHE ??= resolve('.cache/node-compile-cache');
let attemptsLeft = secondAttempts;
const interrupted = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM']) {
  process.on(signal, () => {
    if (!interrupted.signal.aborted) console.log(`${signal}: not at their end were ${report.unfinished().join(', ')}`);
    interrupted.abort();
  });
}

for (const { name, pools } of chosen) {
  if (interrupted.signal.aborted) break;
  const preloadOf = new Map(pools.flatMap(({ files, preload }) => files.map((file) => [resolve(file), preload])));
  report.beginGroup(name, [...preloadOf.keys()]);
  const runs = pools.map(async ({ files, preload, givesWay, atOnce, ofProcess = 1 }, index) => {
    const paths = files.map((file) => resolve(file));
    const batches = new TestBatches(paths, ofProcess, resolve(batchesFolder, String(index)));
    for (let left = batches.entries; left.length > 0 && !interrupted.signal.aborted; left = batches.takeAlone()) {
      for await (const event of start(left, [preload, givesWay && lowPriority], atOnce))
        for (const one of batches.take(event)) report.take(one);
    }
  });
  await Promise.all(runs);
  rmSync(batchesFolder, { recursive: true, force: true });
  if (strict) await tryOnceMore(preloadOf);
  console.log(report.endGroup());
}

if (existsSync(processorTimes)) {
  report.takeProcessorTimes(readFileSync(processorTimes, 'utf8'));
  rmSync(processorTimes);
}
const summary = report.summary({ mayBeMissing: strict ? mayBeMissing : undefined });
writeFileSync(join(outputFolder, 'summary.json'), `${JSON.stringify(summary, null, 2)}\n`);
for (const line of summary.lines) console.log(line);
console.log(`${summary.passed} passed, ${summary.failed} failed, ${summary.skipped} skipped`);
process.exit(interrupted.signal.aborted ? 130 : summary.failed > 0 ? 1 : 0);

/** Groups with their files. A name chooses the group of that name, else every file whose path holds it; without a name the everyday ones. */
function choose(wanted) {
  const seen = new Set();
  const isWhole = ({ name, partOf, everyday }) =>
    [everySuite, name, partOf].some((one) => wanted.includes(one)) || (wanted.length === 0 && everyday === true);
  return groups
    .map(({ files: pattern, ...group }) => {
      const found = globSync(pattern, { exclude: (path) => path.includes('node_modules') }).filter(
        (file) => !seen.has(file),
      );
      for (const file of found) seen.add(file);
      const files = isWhole(group) ? found : found.filter((file) => isNamed(file, wanted));
      return { ...group, isWhole: isWhole(group), files };
    })
    .filter(({ files }) => files.length > 0);
}

/** Puts groups that run whole into the one they name or beside it, the files that take longest first: each is a name and pools of files. */
function together(groupsOfFiles) {
  const find = (name) => groupsOfFiles.find((group) => group.isWhole && group.name === name);
  const hostOf = ({ within, isWhole }) => (isWhole ? find(within) : undefined);
  const neighbourOf = ({ beside = [], isWhole }) => (isWhole ? beside.map(find).find(Boolean) : undefined);
  const alone = (group) => hostOf(group) === undefined && neighbourOf(group) === undefined;
  const withGuests = (host) => {
    const all = [...groupsOfFiles.filter((group) => hostOf(group) === host), host];
    return {
      name: all.map(({ name }) => name).join(', '),
      pools: poolsOf(
        host,
        all.flatMap(({ files }) => files),
      ).map((pool) => ({ ...pool, givesWay: host.givesWay && neighbourOf(host) !== undefined })),
    };
  };
  return groupsOfFiles.filter(alone).map((group) => {
    const neighbours = groupsOfFiles.filter((other) => neighbourOf(other) === group);
    const parts = [...neighbours, group].map(withGuests);
    return { name: parts.map(({ name }) => name).join(', '), pools: parts.flatMap(({ pools }) => pools) };
  });
}

/** The files of a group, and apart from them those that mostly wait. */
function poolsOf({ first, waits, preload, atOnce, ofProcess, isWhole }, files) {
  const isFirst = (file) => first?.test(`/${file}`) === true;
  const inOrder = files.toSorted((a, b) => isFirst(b) - isFirst(a) || a.localeCompare(b));
  const doesWait = (file) => isWhole && waits?.test(`/${file}`) === true;
  const pools = [
    { files: inOrder.filter((file) => !doesWait(file)), preload, atOnce, ofProcess },
    { files: inOrder.filter(doesWait), preload, atOnce: 2 },
  ];
  return pools.filter((pool) => pool.files.length > 0);
}

/** Each file that failed is run once more, alone; the count then is that of the second attempt, and the summary tells of the first. */
async function tryOnceMore(preloadOf) {
  const failed = report.failedFiles();
  if (failed.length > attemptsLeft) return;
  attemptsLeft -= failed.length;
  for (const file of failed) {
    if (interrupted.signal.aborted) return;
    console.log(`once more, alone: ${relative(process.cwd(), file)}`);
    report.beginSecondAttempt(file);
    for await (const event of start([file], [preloadOf.get(file)])) report.take(event);
  }
}

function isNamed(file, wanted) {
  return wanted.some((name) => !groups.some((group) => group.name === name) && file.includes(name));
}

/** Each file in a process of its own, with a look at what it leaves behind. */
function start(files, preloaded, atOnce = 1) {
  const preloads = ['shared/src/testing/leak-check.ts', ...preloaded].filter(Boolean).map((path) => join(root, path));
  return run({
    files,
    concurrency: availableParallelism() === 1 ? 1 : Math.max(atOnce, availableParallelism() - 1),
    forceExit: true,
    timeout: fileLimitMs,
    signal: interrupted.signal,
    execArgv: preloads.flatMap((path) => ['--import', path]),
  });
}
