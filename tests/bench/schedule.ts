// What one `next` and one `previous` of a schedule cost. Each schedule is asked from instants spread over 30 years, in an order that jumps
// about, in three zones; the zones' offsets are measured within that time, so the figures hold what a cold process pays as well.
import { parse } from '@cronjob-monitor/shared/domain/schedule';
import { Report } from './report.ts';

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

const report = new Report('schedule', 'instants of 30 years in an order that jumps about, three zones, on average');

function averageUs(count: number, ask: (instant: number, zone: string) => unknown): number {
  const start = performance.now();
  for (const zone of zones) for (const instant of instants.slice(0, count)) ask(instant, zone);
  return ((performance.now() - start) * 1_000) / (count * zones.length);
}

for (const { spec, budgetUs } of cases) {
  const schedule = parse(spec);
  const took = averageUs(20_000, (instant, zone) => schedule.next(instant, zone));
  report.figure(`next of \`${spec}\``, took, 'µs', budgetUs);
}
for (const { spec } of cases) {
  const schedule = parse(spec);
  const took = averageUs(500, (instant, zone) => schedule.previous(instant, zone, firstInstant));
  report.figure(`previous of \`${spec}\``, took, 'µs');
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
report.figure('the slowest next over a day that Apia skipped', Math.max(...callsMs) * 1_000, 'µs', skippedDayBudgetUs);

const parseStart = performance.now();
for (let index = 0; index < 20_000; index++) parse(`${index % 60} */2 1-15,20 * mon-fri`);
report.figure('reading a schedule', ((performance.now() - parseStart) * 1_000) / 20_000, 'µs');
report.end();
