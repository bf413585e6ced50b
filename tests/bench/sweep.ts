// How long it takes to ask the whole fleet for its success rates and durations over 30 days: what `sla-recalculation` does each hour.
import {
  encodeSketch,
  judge,
  sketchOf,
  type DetectionFacts,
  type DetectionRules,
  dayMs,
  hourMs,
} from '@cronjob-monitor/shared/domain';
import { systemClock } from '@cronjob-monitor/shared/process';
import {
  countRateFacts,
  measureDurationShift,
  migrate,
  openStore,
  projectCronJobs,
  sealRollups,
  takeEpoch,
  type Db,
  type Store,
} from '@cronjob-monitor/shared/store';
import { aCronJob, RecordingLogger, aJobFailedRule } from '@cronjob-monitor/shared/testing';
import { testDatabases } from '../store/databases.ts';
import { Report } from './report.ts';

const cronJobs = Number(process.env['BENCH_CRONJOBS'] ?? 10_000);
/** That of ten thousand CronJobs; what is smaller has to keep it too. */
const statementBudget = cronJobs > 10_000 ? undefined : 40;
const days = 30;
const perDay = 24;
/** Early in the day: most of the first day of the window is counted from rows. */
const now = Date.UTC(2026, 10, 21, 1, 30);
const today = Math.floor(now / dayMs);
const rowsPerInsert = 500;
const rowsPerCommit = 20_000;

const rules: DetectionRules = {
  jobFailed: aJobFailedRule({ enabled: false }),
  missedSchedule: { enabled: false, threshold: 1, skipWarnAfter: undefined, graceMs: 0 },
  deadMan: undefined,
  durations: undefined,
  successRate: { enabled: true, minSuccessRate: 99, windowDays: days, minRuns: 1, countMissed: false },
  finishBy: undefined,
  output: undefined,
  regression: { enabled: true, thresholdPercent: 50, baselineWindowMs: 14 * dayMs },
  stuck: { notStarted: undefined, overrunning: undefined, terminating: undefined },
  suspended: { alertIfSuspendedForMs: undefined },
  pauseMonitoring: true,
};

// SQLite unless DATABASES names others.
const wanted = process.env['DATABASES'] === undefined ? ['sqlite'] : undefined;
for (const database of testDatabases().filter(({ name }) => wanted?.includes(name) ?? true)) {
  const report = new Report(
    'sweep',
    `${cronJobs} hourly CronJobs x ${days} days, ${database.name} on the same machine`,
  );
  const clock = { ...systemClock, now: () => now };
  const store = openStore(await database.fresh(), { clock, log: new RecordingLogger() });
  try {
    await migrate(store, { version: 'bench' });
    const epoch = await takeEpoch(store, 'bench');
    const ids = await fill(store, epoch);
    // Rows of the days between are not there, as if they were pruned.
    await store.sql('cronjobs').update({ baseline_at: (today - 2) * dayMs });
    await sweep(store, ids, report);
    const begunMs = performance.now();
    const sealed = await sealRollups(store, epoch, now, { budgetMs: 600_000 });
    report.figure('yesterday sealed', (performance.now() - begunMs) / 1_000, 's');
    if (sealed.sealed !== ids.length || sealed.different.length > 0) throw new Error('not every day was sealed');
  } finally {
    await store.close();
    await database.remove();
  }
  report.end();
}

function holds(facts: DetectionFacts): boolean {
  return judge(rules, facts, now).some(({ verdict }) => verdict.kind === 'holds');
}

async function sweep(store: Store, ids: readonly number[], report: Report): Promise<void> {
  let statements = 0;
  const counting: Db = {
    ...store,
    dialect: {
      ...store.dialect,
      rowsOf: (response) => {
        statements++;
        return store.dialect.rowsOf(response);
      },
    },
  };
  const measured = async <T>(what: string, budgetS: number | undefined, ask: () => Promise<T>): Promise<T> => {
    statements = 0;
    const begunMs = performance.now();
    const begunCpu = process.cpuUsage();
    const answer = await ask();
    const cpu = process.cpuUsage(begunCpu);
    report.figure(what, (performance.now() - begunMs) / 1_000, 's', budgetS);
    report.figure(`${what}: CPU of this process`, (cpu.user + cpu.system) / 1e6, 's');
    report.figure(`${what}: statements`, statements, '', statementBudget);
    return answer;
  };

  const rates = await measured('success rates', 5, async () => {
    const facts = await countRateFacts(counting, ids, { from: now - days * dayMs, missed: false });
    return [...facts.values()].map((counted) =>
      holds({ successRate: { ...counted, lastRunAt: now, openGoodEvaluations: undefined } }),
    );
  });
  const shifts = await measured('durations and baselines', undefined, async () => {
    const facts = await measureDurationShift(counting, ids, { now, baselineWindowMs: 14 * dayMs });
    return [...facts.values()].map((shift) => holds({ regression: { ...shift, open: undefined } }));
  });
  const held = [rates, shifts].map((verdicts) => verdicts.filter(Boolean).length);
  report.note(`${held[0]} rates are below the minimum, ${held[1]} durations have risen`);
  // A hundredth of the runs fails in every hundredth CronJob only, and every fiftieth became slow yesterday.
  if (rates.length !== ids.length || held[0] !== ids.length / 100 || held[1] !== ids.length / 50) {
    throw new Error('the sweep found something else than was put in');
  }
}

/** Sealed days with their sketches, and rows of the first day of the window and of the last two. */
async function fill(store: Store, epoch: number): Promise<number[]> {
  const ids: number[] = [];
  for (let start = 0; start < cronJobs; start += 500) {
    const seen = Array.from({ length: 500 }, (_, index) => ({
      facts: aCronJob({ uid: `cronjob-${start + index}`, name: `job-${start + index}`, createdAt: now - 90 * dayMs }),
      seenAt: now,
    }));
    const projected = await store.fenced(epoch, (tx) => projectCronJobs(tx, seen));
    ids.push(...projected.map(({ id }) => id));
  }
  const rollups: object[] = [];
  const runs: object[] = [];
  const write = async (table: string, list: object[], least: number): Promise<void> => {
    if (list.length < least) return;
    await store.transaction(async (tx) => {
      while (list.length > 0) await tx.sql(table).insert(list.splice(0, rowsPerInsert));
    });
  };
  for (const id of ids) {
    for (let day = today - days; day <= today; day++) {
      const ofDay = runsOf(id, day);
      const isRowed = day === today - days || day >= today - 2;
      rollups.push(toRollup(id, day, ofDay));
      if (isRowed) runs.push(...ofDay.map((run) => toRow(store, id, run)));
    }
    await write('rollups', rollups, rowsPerCommit);
    await write('executions', runs, rowsPerCommit);
  }
  await write('rollups', rollups, 1);
  await write('executions', runs, 1);
  return ids;
}

interface Run {
  readonly createdAt: number;
  readonly durationMs: number;
  readonly isFailed: boolean;
}

function runsOf(id: number, day: number): Run[] {
  return Array.from({ length: perDay }, (_, hour): Run => {
    const createdAt = day * dayMs + hour * hourMs;
    const isSlow = id % 50 === 0 && createdAt > now - dayMs - hourMs;
    return {
      createdAt,
      durationMs: (isSlow ? 400_000 : 60_000) + ((id * 7_919 + day * 31 + hour * 613) % 20_000),
      isFailed: id % 100 === 0 && hour === 12,
    };
  }).filter(({ createdAt, durationMs }) => createdAt + durationMs <= now);
}

function toRollup(id: number, day: number, runs: readonly Run[]): object {
  const durations = runs.filter(({ isFailed }) => !isFailed).map(({ durationMs }) => durationMs);
  const isSealed = day < today - 1;
  return {
    cronjob_id: id,
    day,
    success: durations.length,
    failed: runs.length - durations.length,
    duration_n: durations.length,
    duration_sum: durations.reduce((sum, ms) => sum + ms, 0),
    duration_min: durations.length === 0 ? null : Math.min(...durations),
    duration_max: durations.length === 0 ? null : Math.max(...durations),
    sketch: isSealed ? Buffer.from(encodeSketch(sketchOf(durations))) : null,
    sealed_at: isSealed ? now : null,
  };
}

function toRow(store: Store, id: number, { createdAt, durationMs, isFailed }: Run): object {
  const number = `${id}`.padStart(12, '0');
  const hour = (createdAt / hourMs).toString(16).padStart(8, '0');
  return {
    cronjob_id: id,
    created_at: createdAt,
    job_uid: store.dialect.id16(`${hour}-0000-4000-8000-${number}`),
    scheduled_at: createdAt,
    started_at: createdAt,
    finished_at: createdAt + durationMs,
    duration_ms: durationMs,
    recorded_at: createdAt + durationMs,
    attempts: 1,
    status: Number(isFailed),
    trigger: 0,
    flags: 0,
    job_name: '-29920793',
  };
}
