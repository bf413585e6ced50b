import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { test, type TestContext } from 'node:test';
import { builtUi, whyNoBrowser } from '../../e2e/ui/fixtures/browser.ts';
import { playAll } from '../players.ts';
import { firstSeed, seeds } from '../seeds.ts';
import type { Played } from './play.ts';

/** Seeds that once failed: they are played first, those that failed where they were drawn by the browser too. */
const kept = JSON.parse(readFileSync(new URL('seeds.json', import.meta.url), 'utf8')) as Readonly<
  Record<'read' | 'drawn', number[]>
>;
const player = new URL('play.ts', import.meta.url);

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
  const queue =
    given === undefined ? seeds(isDrawn ? kept.drawn : [...kept.drawn, ...kept.read]) : counted(Number(given));
  const played = (
    await Promise.all(
      Array.from({ length: processes }, () => playAll<Played>(player, queue, isDrawn ? { BROWSER: '1' } : {})),
    )
  ).flat();
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
