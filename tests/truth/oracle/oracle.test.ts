import assert from 'node:assert/strict';
import { test } from 'node:test';
import { differencesOf, falseMissesOf, type Difference } from './compare.ts';
import { Ledger } from './ledger.ts';
import { startPlayer, type TrueSlot } from './player.ts';
import { firstSeed, seeds } from '../seeds.ts';
import { scenarioOf } from './scenarios.ts';

/** Seeds that once found a difference: they run first. */
const kept: readonly number[] = [];

test('each slot of the real CronJob controller is called what it was', async (context) => {
  const player = await startPlayer();
  if ('skipped' in player) {
    context.skip(player.skipped);
    return;
  }
  const found: (Difference & { readonly seed: number })[] = [];
  let judged = 0;
  let years = 0;
  for (const seed of seeds(kept)) {
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
