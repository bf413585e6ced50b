import assert from 'node:assert/strict';
import { test } from 'node:test';
import { differencesOf, falseMissesOf, type Difference } from './compare.ts';
import { Ledger } from './ledger.ts';
import { startPlayer, type TrueSlot } from './player.ts';
import { scenarioOf } from './scenarios.ts';

/** Seeds that once found a difference: they run first. */
const kept: readonly number[] = [];
const minutes = Number(process.env['TRUTH_MINUTES'] ?? 0.3);
const firstSeed = Number(process.env['SEED'] ?? Math.floor(Date.now() / 86_400_000) * 1_000);
const onlySeed = process.env['SEED'] !== undefined && process.env['TRUTH_MINUTES'] === undefined;

test('each slot of the real CronJob controller is called what it was', async (context) => {
  const player = await startPlayer();
  if ('skipped' in player) {
    context.skip(player.skipped);
    return;
  }
  const found: (Difference & { readonly seed: number })[] = [];
  let judged = 0;
  let years = 0;
  for (const seed of seeds()) {
    const scenario = scenarioOf(seed);
    const ledger = new Ledger();
    const slots: TrueSlot[] = [];
    // oxlint-disable-next-line no-await-in-loop -- one program plays one scenario at a time
    await player.play(scenario, {
      told: (change) => ledger.take(change),
      slot: (slot) => void slots.push(slot),
      ended: () => ledger.advanceTo(Date.parse(scenario.until)),
    });
    const compared = differencesOf(slots, ledger, Date.parse(scenario.until));
    judged += compared.judged;
    years += 1;
    const differences = [...compared.differences, ...falseMissesOf(ledger, scenario)];
    found.push(...differences.map((difference) => ({ seed, ...difference })));
  }
  await player.close();
  context.diagnostic(`${years} cluster-years from seed ${firstSeed}, ${judged} slots, ${found.length} differences`);
  const shown = found
    .slice(0, 20)
    .map((one) => `seed ${one.seed}: ${one.at} of ${one.uid} was ${one.fate}, and is called ${one.said}`);
  assert.deepEqual(
    shown,
    [],
    `${found.length} slots are called what they were not; SEED=n npm test -- oracle plays one`,
  );
});

/** SEED=n alone plays that seed; else those that were kept, and then new ones for TRUTH_MINUTES. */
function* seeds(): Generator<number> {
  if (onlySeed) {
    yield firstSeed;
    return;
  }
  yield* kept;
  const endAt = Date.now() + minutes * 60_000;
  for (let seed = firstSeed; Date.now() < endAt; seed++) yield seed;
}
