import assert from 'node:assert/strict';
import { after, describe, test, type TestContext } from 'node:test';
import { firstSeed, seeds } from '../seeds.ts';
import { differencesOf, falseMissesOf, type Difference } from './compare.ts';
import { Ledger } from './ledger.ts';
import { startPlayer, type Player, type Told, type TrueSlot } from './player.ts';
import { scenarioOf, type Scenario } from './scenarios.ts';

/** Seeds that once found a difference: they run first. */
const kept: readonly number[] = [400_030, 400_426, 700_427, 700_466, 700_819];

/** Years in which a slot ran, was suspended, was forbidden by a run that went on, and came to nothing. */
const seedsOfFates: Readonly<Record<TrueSlot['fate'], number>> = {
  ran: 5_000,
  suspended: 5_000,
  nothing: 5_000,
  forbidden: 5_005,
};

/** A year of a cluster as the real controllers lived it. */
interface Year {
  readonly scenario: Scenario;
  readonly told: readonly Told[];
  readonly slots: readonly TrueSlot[];
}

describe('the real CronJob controller', () => {
  let player: Player | undefined;
  after(async () => {
    if (player && !('skipped' in player)) await player.close();
  });

  /** Undefined: this machine cannot build the controllers, and the test is skipped. */
  async function live(seed: number, context: TestContext): Promise<Year | undefined> {
    player ??= await startPlayer();
    if ('skipped' in player) {
      context.skip(player.skipped);
      return undefined;
    }
    const scenario = scenarioOf(seed);
    const told: Told[] = [];
    const slots: TrueSlot[] = [];
    const listener = {
      told: (change: Told) => void told.push(change),
      slot: (slot: TrueSlot) => void slots.push(slot),
    };
    await player.play(scenario, listener);
    return { scenario, told, slots };
  }

  test('each of its slots is called what it was', async (context) => {
    const found: (Difference & { readonly seed: number })[] = [];
    let judged = 0;
    let years = 0;
    for (const seed of seeds(kept, { defaultMinutes: 0.5 })) {
      // oxlint-disable-next-line no-await-in-loop -- one program plays one scenario at a time
      const year = await live(seed, context);
      if (!year) return;
      const compared = compare(year, tellAll(new Ledger(), year));
      judged += compared.judged;
      years += 1;
      found.push(...compared.differences.map((difference) => ({ seed, ...difference })));
      if (years % 100 === 0) context.diagnostic(`${years} cluster-years, ${judged} slots, ${found.length} differences`);
    }
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

  for (const [fate, seed] of Object.entries(seedsOfFates)) {
    test(`a ledger that is wrong about one slot that was ${fate} is found out`, async (context) => {
      const year = await live(seed, context);
      if (!year) return;
      const right = tellAll(new Ledger(), year);
      assert.deepEqual(compare(year, right).differences, []);
      const slot: TrueSlot | undefined = year.slots.find((one) => one.fate === fate && isJudged(one, right, year));
      assert.ok(slot, `the year of seed ${seed} has no slot that was ${fate}`);
      const wrong = tellAll(fate === 'ran' ? new Deaf(slot) : new Ledger(), year);
      if (fate !== 'ran') callStarted(wrong, slot);
      const found = compare(year, wrong).differences.map(({ at }) => at);
      assert.deepEqual(found, [slot.at]);
    });
  }

  test('an interval that is called missed while nothing disturbed it is found out', async (context) => {
    const year = await live(seedsOfFates.ran, context);
    if (!year) return;
    const quiet = { ...year.scenario, steps: [] };
    const uid = year.slots[0]?.uid ?? '';
    const wrong = { missedIntervals: () => [{ uid, at: Date.parse(year.scenario.from) }].values() };
    assert.deepEqual(
      falseMissesOf(wrong, quiet).map((one) => one.uid),
      [uid],
    );
  });
});

/** Hears nothing of the Job of one slot. */
class Deaf extends Ledger {
  readonly #slot: TrueSlot;

  constructor(slot: TrueSlot) {
    super();
    this.#slot = slot;
  }

  override take(change: Told): void {
    const { annotations, ownerReferences } = change.object['metadata'] as {
      readonly annotations?: Readonly<Record<string, string>>;
      readonly ownerReferences?: readonly { readonly uid: string }[];
    };
    const at = Date.parse(annotations?.['batch.kubernetes.io/cronjob-scheduled-timestamp'] ?? '');
    const isOfSlot = at === Date.parse(this.#slot.at) && ownerReferences?.[0]?.uid === this.#slot.uid;
    if (!isOfSlot) super.take(change);
  }
}

function tellAll<T extends Ledger>(ledger: T, { told, scenario }: Year): T {
  for (const change of told) ledger.take(change);
  ledger.advanceTo(Date.parse(scenario.until));
  return ledger;
}

function callStarted(ledger: Ledger, { uid, at }: TrueSlot): void {
  const known = ledger.find(uid);
  known?.said.delete(Date.parse(at));
  known?.answered.set(Date.parse(at), Date.parse(at));
}

function compare({ slots, scenario }: Year, ledger: Ledger) {
  const { judged, differences } = differencesOf(slots, ledger, scenario);
  return { judged, differences: [...differences, ...falseMissesOf(ledger, scenario)] };
}

function isJudged(slot: TrueSlot, ledger: Ledger, { scenario }: Year): boolean {
  return differencesOf([slot], ledger, scenario).judged === 1;
}
