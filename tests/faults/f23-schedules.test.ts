import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { parse } from '@cronjob-monitor/shared/domain/schedule';
import { listScheduleVectors } from '@cronjob-monitor/shared/testing';
import { nextDue, readCronText } from '@cronjob-monitor/simcluster';
import { timesOf } from './harness/counts.ts';
import { randomOf } from './ledger/seeded.ts';

/** Zones whose clocks change by whole hours and never at midnight: elsewhere the vectors of the original decide. */
const zones = ['UTC', 'Europe/Berlin', 'America/New_York', 'Australia/Sydney', 'Asia/Kolkata', 'Pacific/Auckland'];
const seed = Number(process.env['SEED'] ?? 23);
const draws = timesOf({ ci: 100_000, soak: 1_000_000 });
const count = draws === 1 ? 10_000 : draws;

/** F23: two programs that share no line read the same text: ours by search, that of the simulated cluster by walking over the minutes. */
describe('F23, schedules', () => {
  for (const path of ['cron/robfig-2000.tsv', 'cron-extra/vectors.jsonl']) {
    test(`every vector of the original: ${path}`, () => {
      const wrong = listScheduleVectors(path).filter(({ spec, zone, from, slots }) => {
        try {
          const schedule = parse(spec);
          if (from === undefined) return true;
          let after: number | null = from;
          return slots.some((slot) => (after = after === null ? null : schedule.next(after, zone)) !== slot);
        } catch {
          return from !== undefined;
        }
      });
      assert.deepEqual(
        wrong.map(({ line }) => line),
        [],
      );
    });
  }

  test(`${count} random texts, zones and instants, from seed ${seed}`, () => {
    const random = randomOf(seed);
    for (let draw = 0; draw < count; draw++) {
      const text = randomText(random);
      const zone = random.one(zones);
      const after = Date.UTC(2026, 0, 1) + random.whole(0, 2 * 366 * 86_400) * 1_000 + random.whole(0, 999);
      const ours = parse(text).next(after, zone);
      const theirs = nextDue(readCronText(text), zone, after) ?? null;
      assert.equal(
        ours,
        theirs,
        `draw ${draw} of seed ${seed}: ${text} in ${zone} after ${new Date(after).toISOString()}`,
      );
      assert.ok(ours === null || ours > after, `${text} goes on`);
    }
  });
});

function randomText(random: ReturnType<typeof randomOf>): string {
  if (random.chance(0.08)) return random.one(['@hourly', '@daily', '@weekly', '@monthly', '@midnight', '@yearly']);
  if (random.chance(0.08)) return `@every ${random.whole(1, 200)}${random.one(['s', 'm', 'h'])}`;
  const field = (least: number, most: number): string => {
    const kind = random.whole(0, 6);
    const low = random.whole(least, most);
    const high = random.whole(low, most);
    if (kind <= 1) return random.one(['*', '*', '?']);
    if (kind === 2) return `*/${random.whole(1, most)}`;
    if (kind === 3) return `${low}-${high}`;
    if (kind === 4) return `${low}-${high}/${random.whole(1, 9)}`;
    if (kind === 5) return `${low},${random.whole(least, most)},${high}`;
    return `${low}`;
  };
  // Months are left open most of the time: a walk over the minutes of a year takes its time.
  const month = random.chance(0.85) ? '*' : field(1, 12);
  return [field(0, 59), field(0, 23), random.chance(0.6) ? '*' : field(1, 28), month, field(0, 6)].join(' ');
}
