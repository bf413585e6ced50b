/**
 * Loaded before a test file: when its tests are over, fails the file by name if it leaves a timer, a socket or a child behind,
 * or if it was still registering tests. The runner would end the process there and say nothing (it must, for such a file would
 * hang for ever). What is only closing gets two seconds. It also says how much processor time the file took: beside its seconds that tells
 * how long it only waited.
 */
import { appendFileSync, readFileSync } from 'node:fs';
import { relative } from 'node:path';
import { pathToFileURL } from 'node:url';
import { isMainThread } from 'node:worker_threads';

const graceMs = 2_000;
const lookMs = 20;

const file = process.argv[1] ?? '';
// Either is opened when it is first asked for: now, before the count.
void process.stdout;
void process.stderr;
if (isMainThread && process.env['NODE_TEST_CONTEXT'] !== undefined && /\.test\.[cm]?[jt]s$/.test(file)) {
  checkAtExit();
  process.on('exit', tellProcessorTime);
}

/** A line for the report: the file, and the seconds of its process and of all that it started and waited for. Linux alone counts them. */
function tellProcessorTime(): void {
  const report = process.env['PROCESSOR_TIME_FILE'];
  if (report === undefined || process.platform !== 'linux') return;
  // Behind the name, which may hold anything, the 12th to 15th field: own and children's time, each for program and kernel, in hundredths.
  const fields = readFileSync('/proc/self/stat', 'utf8').split(') ').at(-1)?.split(' ') ?? [];
  const hundredths = fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0);
  appendFileSync(report, `${JSON.stringify({ file, seconds: hundredths / 100 })}\n`);
}

function checkAtExit(): void {
  const before = countByType(process.getActiveResourcesInfo());
  const exit = process.exit.bind(process);
  let isChecking = false;
  let isLoaded = false;

  const check = (code: unknown, lookedMs: number): void => {
    const left = leftBehind(before, lookedMs > 0 ? 1 : 0);
    if (left.length === 0 && isLoaded) return exit(code === undefined ? undefined : Number(code));
    if (lookedMs < graceMs) return void setTimeout(check, lookMs, code, lookedMs + lookMs);
    const name = relative(process.cwd(), file);
    if (left.length > 0) process.stderr.write(`${name} leaves behind: ${left.join(', ')}\n`);
    if (!isLoaded)
      process.stderr.write(`${name} was not loaded to its end when its tests were over: no await before a test\n`);
    return exit(1);
  };

  // The runner ends a file with `process.exit` as soon as the last test it knows of is over, hooks included.
  const checkThenExit = (code?: unknown): void => {
    if (isChecking) return;
    isChecking = true;
    import(pathToFileURL(file).href).finally(() => (isLoaded = true)).catch(() => {}); // The runner tells of what fails there.
    setImmediate(check, code, 0);
  };
  Object.assign(process, { exit: checkThenExit });
}

function countByType(types: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const type of types) counts.set(type, (counts.get(type) ?? 0) + 1);
  return counts;
}

/** What there is more of than before, as `TCPSocketWrap x2`. An immediate is over by itself; so many timers are our own. */
function leftBehind(before: ReadonlyMap<string, number>, ownTimers: number): string[] {
  const now = countByType(process.getActiveResourcesInfo().filter((type) => type !== 'Immediate'));
  return [...now].flatMap(([type, count]) => {
    const more = count - (before.get(type) ?? 0) - (type === 'Timeout' ? ownTimers : 0);
    return more > 0 ? [`${type} x${more}`] : [];
  });
}
