import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { createInterface } from 'node:readline';
import { test, type TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import { builtUi, whyNoBrowser } from '../../e2e/ui/fixtures/browser.ts';
import { firstSeed, seeds } from '../seeds.ts';
import type { Played } from './play.ts';

/** Databases of fleets live for seconds: in memory where there is a file system for it. */
const temporary = existsSync('/dev/shm') ? '/dev/shm' : tmpdir();
/** Seeds that once failed: they are played first. */
const kept = JSON.parse(readFileSync(new URL('seeds.json', import.meta.url), 'utf8')) as number[];
const player = fileURLToPath(new URL('play.ts', import.meta.url));

test(`no two places contradict each other, fleets from seed ${firstSeed} on`, async (context) => {
  await agree(context, { processes: availableParallelism(), isDrawn: false });
});

test(
  `no page that a browser draws contradicts the service, fleets from seed ${firstSeed} on`,
  { skip: whyNoBrowser() ?? false },
  async (context) => {
    await builtUi();
    await agree(context, { processes: 1, isDrawn: true });
  },
);

/** FLEETS=n plays so many; else as many as TRUTH_MINUTES lets. */
async function agree(
  context: TestContext,
  { processes, isDrawn }: { readonly processes: number; readonly isDrawn: boolean },
): Promise<void> {
  const given = process.env[isDrawn ? 'FLEETS_DRAWN' : 'FLEETS'];
  const queue = given === undefined ? seeds(kept) : counted(Number(given));
  const played = (await Promise.all(Array.from({ length: processes }, () => playAll(queue, isDrawn)))).flat();
  const sum = (of: (one: Played) => number): number => played.reduce((total, one) => total + of(one), 0);
  const found = played.flatMap(({ seed, contradictions }) => contradictions.map((one) => `SEED=${seed}: ${one}`));
  context.diagnostic(
    `${played.length} fleets, ${sum(({ looks }) => looks)} looks, ${sum(({ cronJobs }) => cronJobs)} CronJobs, ` +
      `${sum(({ pagesDrawn }) => pagesDrawn)} pages drawn, ${found.length} contradictions, ${sum(({ seconds }) => seconds).toFixed(0)} s`,
  );
  assert.ok(played.length > 0 && sum(({ looks }) => looks) === 3 * played.length, 'fleets were not looked at');
  if (isDrawn) assert.ok(sum(({ pagesDrawn }) => pagesDrawn) > 0, 'no page was drawn');
  assert.deepEqual(found, []);
}

function* counted(fleets: number): Generator<number> {
  for (let index = 0; index < fleets; index++) yield firstSeed + index;
}

/** One process that takes seeds from the queue until it is empty. */
async function playAll(queue: Generator<number>, isDrawn: boolean): Promise<Played[]> {
  const first = queue.next();
  if (first.done) return [];
  const child = spawn(process.execPath, [player], {
    stdio: ['pipe', 'pipe', 'inherit'],
    env: { ...process.env, TMPDIR: temporary, NODE_TEST_CONTEXT: '', ...(isDrawn && { BROWSER: '1' }) },
  });
  const ended = new Promise<number | null>((resolve) => child.on('close', resolve));
  const played: Played[] = [];
  child.stdin.write(`${first.value}\n`);
  for await (const line of createInterface({ input: child.stdout })) {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- as the player writes it
    const one = JSON.parse(line) as Played;
    played.push(one);
    if (process.env['FLEETS_LOG']) process.stderr.write(`${line}\n`);
    const next = queue.next();
    if (next.done) child.stdin.end();
    else child.stdin.write(`${next.value}\n`);
  }
  assert.equal(await ended, 0, 'a process that plays fleets ended by an error');
  return played;
}
