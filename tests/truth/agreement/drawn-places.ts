import type {
  Channel,
  CoverageState,
  ExecutionDetail,
  ExecutionStatus,
  Silence,
} from '@cronjob-monitor/shared/contract';
import { drawings, type Drawn, type Row } from './drawn-page.ts';
import { nameOf, type Pages } from './pages.ts';

type Print = (words: string) => string;

/** Words and tones, written down here once more. */
const coverageMarks: Readonly<Record<CoverageState, string>> = {
  unwatched: 'Unwatched crit',
  off: 'Off warn',
  nobody: 'No channel is told warn',
  unreachable: 'Unreachable warn',
  unproved: 'Unproved off',
  reached: 'Reached ok',
};
const runMarks: Readonly<Record<ExecutionStatus, readonly [word: string, tone: string]>> = {
  success: ['Succeeded', 'ok'],
  failed: ['Failed', 'crit'],
  replaced: ['Replaced', 'off'],
  deleted: ['Deleted', 'off'],
  unobserved: ['Not seen', 'off'],
};
const phaseMarks = {
  Pending: 'Pending off',
  Active: 'Active ok',
  Degraded: 'Degraded warn',
  Error: 'Error crit',
} as const;
const silenceMarks = { scheduled: 'Scheduled off', active: 'Active held', expired: 'Expired off' } as const;
const levelMarks = { error: 'Error', warning: 'Warning', note: 'Note' } as const;
const unheard: readonly CoverageState[] = ['unwatched', 'off', 'nobody', 'unreachable'];

/** The rows of a table, one for each item; what has none is said, and so is a row too many. */
function* eachRow<Item>(
  { tables }: Drawn,
  label: RegExp,
  { items, keyOf }: { readonly items: readonly Item[]; readonly keyOf: (item: Item) => string },
  check: (row: Row, item: Item) => Iterable<string>,
): Generator<string> {
  const rows = tables.filter((table) => label.test(table.label)).flatMap((table) => table.rows);
  if (rows.length !== items.length) yield `it has ${rows.length} rows, the service ${items.length}`;
  for (const item of items) {
    const row = rows.find(({ key }) => key === keyOf(item));
    if (!row) yield `${keyOf(item)} has no row`;
    else for (const one of check(row, item)) yield `${keyOf(item)} ${one}`;
  }
}

function* hasMark({ marks }: Pick<Row, 'marks'>, mark: string): Generator<string> {
  if (!marks.includes(mark)) yield `is to be "${mark}", and is [${marks.join(', ')}]`;
}

export function* ofCoverage(drawn: Drawn, { covered: { items, summary } }: Pages): Generator<string> {
  yield* eachRow(drawn, /^CronJobs by whether/, { items, keyOf: nameOf }, function* (row, { state, types }) {
    yield* hasMark(row, coverageMarks[state]);
    const told = types.every((type) => type.state === 'reached') ? types.flatMap(({ channels }) => channels) : [];
    for (const channel of told) if (!row.text.includes(channel)) yield `is told to ${channel}, and says "${row.text}"`;
    if (types.length > 0 && told.length === 0 && row.text.includes('Told to')) yield `says "${row.text}"`;
  });
  const count = items.filter(({ state }) => unheard.includes(state)).length + summary.unnamed;
  const isOfAll = drawn.heading.startsWith('All CronJobs are watched. No channel is told');
  const said = isOfAll ? summary.byState.nobody : Number(/^\d+/.exec(drawn.heading)?.[0] ?? 0);
  if (said !== count) yield `the heading "${drawn.heading}" is not about ${count} of which some alert is not heard`;
}

export function* ofSilences(drawn: Drawn, items: readonly Silence[], label: RegExp): Generator<string> {
  yield* eachRow(drawn, label, { items, keyOf: ({ id }) => id ?? '' }, function* (row, silence) {
    yield* hasMark(row, silenceMarks[silence.state]);
    const at = silence.state === 'scheduled' ? silence.startsAt : silence.endsAt;
    if (row.times[0] !== new Date(at).toISOString()) yield `ends ${at}, and shows [${row.times.join(', ')}]`;
    const { 'Held now': now, 'In all': total } = row.cells;
    if (now !== String(silence.mutedNow) || total !== String(silence.mutedTotal))
      yield `holds ${silence.mutedNow}, ${silence.mutedTotal} in all, and shows ${now}, ${total}`;
  });
}

export function* ofChannels(drawn: Drawn, { channels }: Pages): Generator<string> {
  yield* eachRow(drawn, /^Channels$/, { items: channels, keyOf: ({ name }) => name }, function* (row, channel) {
    yield* hasMark(row, readyMark(channel));
    const { stats, queued, parked, dead } = channel;
    const figures = [stats.alertsSentTotal, stats.alertsFailedTotal, stats.consecutiveFailures, queued, parked, dead];
    // A cell with nothing to count is empty, and a column of such cells is not drawn.
    const shown = ['Sent', 'Failed', 'Failures in a row', 'Queued', 'Parked', 'Given up'].map(
      (title) => row.cells[title] || '0',
    );
    if (shown.join() !== figures.join()) yield `counts ${figures.join(', ')}, and shows ${shown.join(', ')}`;
  });
  const notReady = channels.filter(({ ready }) => !ready).length;
  const said = /(\d+) of \d+ not ready/.exec(drawn.text)?.[1] ?? '0';
  if (Number(said) !== notReady) yield `it says that ${said} are not ready, the service ${notReady}`;
}

export function* ofChannel(drawn: Drawn, channel: Channel): Generator<string> {
  const mark = readyMark(channel);
  yield* hasMark(drawn, mark);
  if (!mark.endsWith(` ${drawn.verdict?.tone}`)) yield `it is ${mark}, and its verdict ${drawn.verdict?.tone}`;
  const waiting = [
    [channel.queued, 'queued'],
    [channel.parked, 'parked'],
    [channel.dead, 'given up'],
  ].flatMap(([count, word]) => (count === 0 ? [] : [`${count} ${word}`]));
  const fact = `Waiting ${waiting.join(', ') || 'No message'}`;
  if (!drawn.text.includes(fact)) yield `it does not say "${fact}"`;
}

function readyMark({ ready, reason }: Channel): string {
  return ready ? 'Ready ok' : reason === 'NotChecked' ? 'Not checked off' : 'Not ready warn';
}

export function* ofAdvice(drawn: Drawn, { advice: { items, counts } }: Pages, print: Print): Generator<string> {
  const count = /^\d+/.exec(drawn.heading)?.[0] ?? (drawn.heading === 'Nothing has to be changed' ? '0' : undefined);
  if (count !== String(counts.findings)) yield `the heading "${drawn.heading}" is not about ${counts.findings}`;
  for (const { words, level, findings, code } of counts.kinds) {
    const card = drawn.cards.find(({ title }) => title === words);
    const own = items.filter((one) => one.code === code);
    if (own.length === 0) continue; // on a later page
    if (Number.parseInt(card?.note ?? '', 10) !== findings)
      yield `"${words}": ${card?.note}, and ${findings} are found`;
    if (!card?.badges.includes(levelMarks[level])) yield `"${words}" is ${level}, and shows [${card?.badges.join()}]`;
    const rows = drawn.tables.find(({ label }) => label === words)?.rows ?? [];
    if (rows.length !== own.length) yield `"${words}" has ${rows.length} rows of ${own.length}`;
    for (const [index, item] of own.entries())
      if (rows[index]?.text.includes(print(item.words)) !== true)
        yield `"${words}" says "${rows[index]?.text}", and not "${print(item.words)}"`;
  }
}

export function* ofMonitors(drawn: Drawn, { monitorItems }: Pages): Generator<string> {
  yield* eachRow(drawn, /^Monitors$/, { items: monitorItems, keyOf: nameOf }, function* (row, monitor) {
    yield* hasMark(row, phaseMarks[monitor.phase]);
    const wrong = (['critical', 'warning', 'failing'] as const).filter((state) => monitor.states[state] > 0);
    const counted = wrong.map((state) => `${monitor.states[state]} ${state}`).join(', ');
    const cell = `${monitor.cronJobCount} CronJob${monitor.cronJobCount === 1 ? '' : 's'}`;
    const { CronJobs: cronJobs = '', Alerts: alerts, Problems: problems = '' } = row.cells;
    if (!cronJobs.startsWith(cell) || (counted !== '' && !cronJobs.endsWith(` ${counted}`)))
      yield `has ${cell}, ${counted || 'none wrong'}, and shows "${cronJobs}"`;
    if (counted === '' && /critical|warning|failing/.test(cronJobs)) yield `has none wrong, and shows "${cronJobs}"`;
    if (alerts !== String(monitor.activeAlerts)) yield `has ${monitor.activeAlerts} alerts, and shows ${alerts}`;
    const found = Number(/^(\d+) findings?/.exec(problems)?.[1] ?? 0);
    if (found !== monitor.findings) yield `has ${monitor.findings} findings, and shows "${problems}"`;
  });
}

export function* ofRun(drawn: Drawn, run: ExecutionDetail, print: Print): Generator<string> {
  const [word, tone] = runMarks[run.status];
  yield* hasMark(drawn, `${word} ${tone}`);
  if (drawn.verdict?.tone !== tone) yield `it is ${run.status}, and its verdict ${drawn.verdict?.tone}`;
  if (drawn.verdict?.sentence !== print(run.verdict.words))
    yield `the verdict says "${drawn.verdict?.sentence}", and not "${print(run.verdict.words)}"`;
  if (run.status !== 'success' && (drawn.verdict?.checks ?? 0) > 0) yield `it is ${run.status} and has a check`;
}

/** A line for each run whose log has it, with how that run ended. */
export function* ofSearch({ tables, cards }: Drawn, { details, runs }: Pages): Generator<string> {
  const rows = tables.flatMap((table) => table.rows);
  const title = rows.length === 0 ? 'Lines' : `${rows.length} line${rows.length === 1 ? '' : 's'}`;
  if (!cards.some((card) => card.title === title)) yield `it has ${rows.length} lines, and no title "${title}"`;
  const jobOf = ({ href }: Row): string => /\/runs\/([^?#]+)/.exec(href)?.[1] ?? '';
  for (const { jobName } of runs.filter(({ hasLogs }) => hasLogs))
    if (rows.length < 50 && !rows.some((row) => jobOf(row) === jobName)) yield `it leaves out the log of ${jobName}`;
  for (const run of details.flatMap(({ executions }) => executions)) {
    const row = rows.find(
      (one) => jobOf(one) === run.jobName && one.text.includes(`${run.cronJobName} ${run.namespace}`),
    );
    const mark = runMarks[run.status].join(' ');
    if (row && (!run.hasLogs || !row.marks.includes(mark)))
      yield `${run.jobName} is ${run.status}, and its line "${row.text}" [${row.marks.join(', ')}]`;
  }
}

/** Each row has the tone of its CronJob, and the marks of what its cells hold. */
export function* ofWall({ lanes }: Drawn, { wall, cronJobs }: Pages): Generator<string> {
  const rows = lanes.filter(({ name }) => !/^(Unfold|Fold) /.test(name));
  if (rows.length !== wall.rows.length || rows.length !== cronJobs.length)
    yield `it has ${rows.length} rows, /wall ${wall.rows.length}, /cronjobs ${cronJobs.length}`;
  for (const { cronjob, verdict, cells, texture } of wall.rows) {
    const [word, tone] = drawings[verdict.state];
    const row = rows.find(({ name }) => name === `${nameOf(cronjob)}, ${word}`);
    if (!row) yield `${nameOf(cronjob)} is ${verdict.state}, and has no row of that name`;
    if (!row) continue;
    if (row.tone !== (tone === 'crit' || tone === 'warn' ? tone : ''))
      yield `${nameOf(cronjob)} is ${verdict.state}, and has the tone ${row.tone}`;
    const holds = { failed: cells.some(({ failed }) => failed > 0) };
    const single = {
      missed: cells.some(({ missed }) => missed > 0),
      late: cells.some(({ late }) => late > 0),
      running: cells.some(({ running }) => running > 0),
    };
    for (const [look, isHeld] of Object.entries({ ...holds, ...(!texture && single) }))
      if (row.looks.includes(look) !== isHeld)
        yield `${nameOf(cronjob)} ${isHeld ? 'has' : 'has nothing'} ${look}, and its row [${row.looks.join(', ')}]`;
  }
}
