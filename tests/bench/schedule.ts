/**
 * What one `next` and one `previous` of a schedule cost. Each schedule is asked from instants spread over 30 years, in an
 * order that jumps about, in three zones; the zones' offsets are measured within that time, so the figures hold what a cold
 * process pays as well. Fails when an ordinary schedule passes 10 us on average, 29 February 1 ms on
 * average, or a call around the day that Apia skipped 1 ms.
 */
import { parse } from '@cronjob-monitor/shared/domain/schedule';

const zones = ['Europe/Berlin', 'America/New_York', 'Australia/Lord_Howe'];
const firstInstant = Date.UTC(2000, 0, 1);
const spanMs = 30 * 365.25 * 86_400_000;
const instants = Array.from(
  { length: 20_000 },
  (_, index) => firstInstant + ((index * 0.618_033_988_749_895) % 1) * spanMs,
);

const ordinaryBudgetUs = 10;
const leapDayBudgetUs = 1_000;
const skippedDayBudgetUs = 1_000;

const cases: readonly { spec: string; budgetUs: number | undefined }[] = [
  { spec: '* * * * *', budgetUs: ordinaryBudgetUs },
  { spec: '*/5 * * * *', budgetUs: ordinaryBudgetUs },
  { spec: '17 * * * *', budgetUs: ordinaryBudgetUs },
  { spec: '0 */6 * * *', budgetUs: ordinaryBudgetUs },
  { spec: '30 2 * * *', budgetUs: ordinaryBudgetUs },
  { spec: '0 9 * * 1-5', budgetUs: ordinaryBudgetUs },
  { spec: '0 0 13 * 5', budgetUs: ordinaryBudgetUs },
  { spec: '0 3 * * 0', budgetUs: ordinaryBudgetUs },
  { spec: '0 0 1 * *', budgetUs: ordinaryBudgetUs },
  { spec: '@every 90m', budgetUs: ordinaryBudgetUs },
  { spec: '0 0 1 1 *', budgetUs: undefined },
  { spec: '0 0 29 2 *', budgetUs: leapDayBudgetUs },
  { spec: '0 0 31 2 *', budgetUs: undefined },
];

let missed = 0;

function report(title: string, averageUs: number, budgetUs?: number): void {
  const isOver = budgetUs !== undefined && averageUs > budgetUs;
  if (isOver) missed++;
  const budget = budgetUs === undefined ? '' : ` (budget ${budgetUs})${isOver ? ' OVER' : ''}`;
  console.log(`${title.padEnd(34)} ${averageUs.toFixed(2).padStart(9)} us${budget}`);
}

function averageUs(count: number, ask: (instant: number, zone: string) => unknown): number {
  const start = performance.now();
  for (const zone of zones) for (const instant of instants.slice(0, count)) ask(instant, zone);
  return ((performance.now() - start) * 1_000) / (count * zones.length);
}

for (const { spec, budgetUs } of cases) {
  const schedule = parse(spec);
  report(
    `next      ${spec}`,
    averageUs(20_000, (instant, zone) => schedule.next(instant, zone)),
    budgetUs,
  );
}
for (const { spec } of cases) {
  const schedule = parse(spec);
  report(
    `previous  ${spec}`,
    averageUs(500, (instant, zone) => schedule.previous(instant, zone, firstInstant)),
  );
}

/** The slowest call around the day that Apia skipped; of each, the fastest of three: the machine pauses too. */
const skippedDay = parse('0 5 30 * *');
const callsMs = Array.from({ length: 96 }, (_, hour) => {
  const tries = Array.from({ length: 3 }, () => {
    const start = performance.now();
    skippedDay.next(Date.UTC(2011, 11, 28, hour), 'Pacific/Apia');
    return performance.now() - start;
  });
  return Math.min(...tries);
});
report('slowest next over a skipped day', Math.max(...callsMs) * 1_000, skippedDayBudgetUs);

const parseStart = performance.now();
for (let index = 0; index < 20_000; index++) parse(`${index % 60} */2 1-15,20 * mon-fri`);
report('parse', ((performance.now() - parseStart) * 1_000) / 20_000);

if (missed > 0) process.exitCode = 1;
