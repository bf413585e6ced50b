// What redaction takes of logs made to be slow to look through: the processor's time of 1, 2 and 4 MiB of each fragment, and how long the
// event loop stands still while logs of any size are redacted as the service does it, the large ones in the thread.
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { createRedactor } from '@cronjob-monitor/shared/domain';
import { createInstalledRedaction } from '@cronjob-monitor/shared/kube';
import { createBudgetedThread, systemClock } from '@cronjob-monitor/shared/process';
import { hostileFragments, hostileFrames, RecordingLogger } from '@cronjob-monitor/shared/testing';
import { Report } from './report.ts';

const kibibyte = 1024;
const mebibyte = 1024 * kibibyte;
/** What four times the smallest text may take of twice it: 2 in one pass. */
const growthBudget = 2.5;
const holdBudgetMs = 50;
const tries = 5;

const report = new Report(
  'redaction',
  `${hostileFragments.length} fragments in ${hostileFrames.length} frames, the best of ${tries} tries each`,
);
const redact = createRedactor();

const texts = hostileFrames.flatMap(([frame, head, tail]) =>
  hostileFragments.map((fragment) => ({
    name: `${JSON.stringify(fragment).slice(0, 40)} ${frame}`,
    of: (size: number): string => head + fragment.repeat(Math.ceil(size / fragment.length)) + tail,
  })),
);

function best(measure: () => number): number {
  return Math.min(...Array.from({ length: tries }, measure));
}

function processorMs(text: string): number {
  const startedAt = process.cpuUsage();
  redact(text);
  const { user, system } = process.cpuUsage(startedAt);
  return (user + system) / 1_000;
}

const slowest = { ms: [0, 0, 0], growth: 0, growthOf: '', name: '' };
for (const { name, of } of texts) {
  const [one = 0, two = 0, four = 0] = [1, 2, 4].map((size) => {
    const text = of(size * mebibyte);
    return best(() => processorMs(text));
  });
  if (four > (slowest.ms[2] ?? 0)) Object.assign(slowest, { ms: [one, two, four], name });
  // Of a few milliseconds the ratio is that of the machine's pauses.
  if (four > 20 && four / two > slowest.growth) Object.assign(slowest, { growth: four / two, growthOf: name });
}
for (const [place, size] of [1, 2, 4].entries())
  report.figure(`${size} MiB of the slowest text`, slowest.ms[place] ?? 0, 'ms');
report.figure('4 MiB against 2 MiB, the worst text', slowest.growth, 'times', growthBudget);
report.note(`the slowest: ${slowest.name}; the worst growth: ${slowest.growthOf}`);

const logger = new RecordingLogger();
const redaction = createInstalledRedaction(createBudgetedThread, [], { clock: systemClock, logger });
// The thread begins, and the rules are compiled, before anything is measured.
await redaction.log(Buffer.alloc(mebibyte, 'warm '), { maxBytes: mebibyte, cut: false });
let longestMs = 0;
let longestOf = '';
for (const { name, of } of texts) {
  for (const size of [kibibyte / 4, kibibyte, 4 * kibibyte]) {
    const bytes = Buffer.from(of(size * kibibyte)).subarray(0, size * kibibyte);
    let holdMs = Infinity;
    for (let count = 0; count < tries; count++) holdMs = Math.min(holdMs, await holdOf(bytes));
    if (holdMs > longestMs) [longestMs, longestOf] = [holdMs, `${size} KiB of ${name}`];
  }
}
await redaction.close();
if (logger.lines.length > 0) throw new Error('a text was withheld', { cause: logger.lines });
report.figure('the event loop at a stand, the worst text', longestMs, 'ms', holdBudgetMs);
report.note(`it stood longest for ${longestOf}`);
report.end();

async function holdOf(bytes: Uint8Array): Promise<number> {
  const delay = monitorEventLoopDelay({ resolution: 5 });
  delay.enable();
  await systemClock.sleep(10);
  await redaction.log(bytes, { maxBytes: mebibyte, cut: false });
  await systemClock.sleep(10);
  delay.disable();
  return delay.max / 1e6;
}
