import { healthStates, type Alert, type CronJobDetail, type Verdict } from '@cronjob-monitor/shared/contract';
import { drawings, type Drawn, type Row } from './drawn-page.ts';
import { nameOf, type Pages } from './pages.ts';

/** A row shows the verdict of its CronJob: state, sentence, every hold, and a check only where it is healthy. */
export function* ofRow(
  row: Row | undefined,
  place: string,
  verdict: Verdict,
  print: (words: string) => string,
): Generator<string> {
  if (!row) {
    yield `${place} has no row`;
    return;
  }
  if (!row.text.includes(print(verdict.words))) yield `${place} says "${row.text}", and not "${print(verdict.words)}"`;
  for (const hold of verdict.holds)
    if (!row.badges.includes(print(hold.words))) yield `${place} has no chip "${print(hold.words)}"`;
  if (verdict.state !== 'healthy' && row.checks > 0) yield `${place} is ${verdict.state} and has a check`;
  const mark = drawings[verdict.state].join(' ');
  if (row.state !== mark && !row.marks.includes(mark))
    yield `${place} is ${verdict.state}, and is drawn as "${row.state}" [${row.marks.join(', ')}]`;
  if (row.state.trim() === '') return; // a row of a table says it in its sentence
  const since = verdict.since === null ? '' : print(`since {age:${verdict.since}}`);
  const isDrawn = row.since === since || row.times.includes(new Date(verdict.since ?? 0).toISOString());
  if (!isDrawn) yield `${place} is so since ${verdict.since}, and shows "${row.since}" [${row.times.join(', ')}]`;
}

export function* ofList(
  { tables, segments }: Drawn,
  { cronJobs }: Pages,
  print: (words: string) => string,
): Generator<string> {
  const rows = tables.find(({ label }) => label === 'CronJobs')?.rows ?? [];
  if (rows.length !== cronJobs.length) yield `${rows.length} rows, the list has ${cronJobs.length}`;
  for (const { namespace, name, verdict } of cronJobs) {
    const row = rows.find(({ key }) => key === `${namespace}/${name}`);
    yield* ofRow(row, `${namespace}/${name}`, verdict, print);
    if (row && !row.badges.includes(drawings[verdict.state][0]))
      yield `${namespace}/${name} is ${verdict.state} and shows [${row.badges.join(', ')}]`;
  }
  if (cronJobs.length === 0) return;
  for (const state of healthStates) {
    const counted = cronJobs.filter(({ verdict }) => verdict.state === state).length;
    const shown = segments[drawings[state][0]];
    if (shown !== counted) yield `the filter counts ${shown} ${state}, the list has ${counted}`;
  }
}

export function* ofDashboard(drawn: Drawn, pages: Pages, print: (words: string) => string): Generator<string> {
  const { cronJobs, stats } = pages;
  yield* ofIncidents(drawn, pages);
  if (cronJobs.length === 0) return;
  for (const state of healthStates) {
    const [word] = drawings[state];
    const shown = drawn.shares[word];
    if (shown !== String(stats.states[state])) yield `the share ${word} is ${shown}, /stats has ${stats.states[state]}`;
  }
  yield* ofHeadline(drawn, pages);
  const isWell = cronJobs.every(({ verdict }) => verdict.state === 'healthy' || verdict.state === 'suspended');
  if (/\bfine\b/.test(drawn.heading) && !isWell) yield `the headline says "${drawn.heading}"`;
  for (const { label, rows } of drawn.tables)
    for (const row of rows) {
      // What is to come has a risk, and no verdict.
      if (label === 'CronJobs at risk') continue;
      const item = cronJobs.find((one) => nameOf(one) === row.key);
      if (item) yield* ofRow(row, `${row.key} in "${label}"`, item.verdict, print);
    }
  yield* ofTonight(drawn, pages, print);
}

const incidentLists = ['CronJobs with open alerts, worst first', 'CronJobs that fail without an open alert'];

/** Rows are the first of each kind, in the order of the list, and what has no room is counted. */
export function* ofIncidents({ tables, cards }: Drawn, { incidents, cronJobs }: Pages): Generator<string> {
  const lists = incidentLists.map((name) =>
    (tables.find(({ label }) => label === name)?.rows ?? []).map(({ key }) => key),
  );
  const expected = [false, true].map((isFailing) =>
    incidents.flatMap(({ verdict, cronjob }) => ((verdict.state === 'failing') === isFailing ? [nameOf(cronjob)] : [])),
  );
  for (const [index, shown] of lists.entries())
    if (shown.join() !== expected[index]?.slice(0, shown.length).join())
      yield `it shows [${shown.join(', ')}], and /incidents has [${expected[index]?.join(', ')}]`;
  const shown = lists.flat().length;
  const card = cards.find(({ title }) => title === 'Incidents');
  const left = Number(/(\d+) more$/.exec(card?.text ?? '')?.[1] ?? 0);
  if (shown + left !== incidents.length)
    yield `it shows ${shown} incidents, and ${left} more; /incidents has ${incidents.length}`;
  const wrong = cronJobs.filter(({ verdict }) => ['critical', 'warning', 'failing'].includes(verdict.state)).length;
  const others = incidents.length - wrong;
  const rest = others === 0 ? '' : ` and ${others} other${others === 1 ? '' : 's'}`;
  const note = `${wrong} of ${cronJobs.length} CronJob${cronJobs.length === 1 ? '' : 's'}${rest}, worst first`;
  if (incidents.length > 0 && card?.note.startsWith(note) !== true) yield `it says "${card?.note}", and not "${note}"`;
}

/** What is to come is what `/tonight` says: how many run, how many may fail, why, and who hears it. */
function* ofTonight({ tables, cards }: Drawn, { tonight }: Pages, print: (words: string) => string): Generator<string> {
  const rows = tables.find(({ label }) => label === 'CronJobs at risk')?.rows ?? [];
  const card = cards.find(({ title }) => /^(Tonight|Today) until /.test(title));
  const counted = /: (no|\d+) CronJobs? runs?, (none|\d+) (?:is|are) at risk$/.exec(card?.title ?? '')?.slice(1);
  const [runs, atRisk] = (counted ?? []).map((word) => (word === 'no' || word === 'none' ? 0 : Number(word)));
  if (runs !== tonight.cronjobs || atRisk !== tonight.atRisk)
    yield `"${card?.title}", and /tonight has ${tonight.cronjobs}, ${tonight.atRisk} at risk`;
  const more = Number(/(\d+) more at risk/.exec(card?.text ?? '')?.[1] ?? 0);
  const calm = /(\d+) runs? without a finding/.exec(card?.text ?? '')?.[1];
  if (rows.length + more !== tonight.atRisk || calm !== String(tonight.calm))
    yield `it shows ${rows.length} at risk, ${more} more, ${calm} without a finding; /tonight has ${tonight.atRisk} and ${tonight.calm}`;
  // Of those that are as likely, the page puts first what no incident beside them tells.
  const levelOf = (item: Pages['tonight']['items'][number] | undefined): string | undefined => item?.risks[0]?.level;
  for (const [index, { key, text }] of rows.entries()) {
    const item = tonight.items.find(({ cronjob }) => nameOf(cronjob) === key);
    if (!item || levelOf(item) !== levelOf(tonight.items[index])) {
      yield `it shows ${key} at risk, where /tonight has ${levelOf(tonight.items[index])} ones`;
      continue;
    }
    const level = levelOf(item) === 'likely' ? 'Likely:' : 'Possible:';
    const words = item.risks.map((risk) => print(risk.words));
    for (const one of [level, ...words]) if (!text.includes(one)) yield `${key} is at risk, and does not say "${one}"`;
  }
}

/** The headline counts the worst state that is not empty, and names CronJobs that are in it. */
function* ofHeadline({ heading }: Drawn, { cronJobs, stats }: Pages): Generator<string> {
  const worst = (['critical', 'warning', 'failing'] as const).find((state) => stats.states[state] > 0);
  if (worst === undefined) return;
  const [, count, word, listed = ''] = /^(\d+) (\w+): ([^;]+)/.exec(heading) ?? [];
  if (word !== worst || count !== String(stats.states[worst])) {
    yield `the headline "${heading}" is not about ${stats.states[worst]} ${worst}`;
    return;
  }
  for (const one of listed.replace(/ and \d+ more$/, '').split(', '))
    if (!cronJobs.some(({ name, verdict }) => name === one && verdict.state === worst))
      yield `the headline "${heading}" names ${one}, which is not ${worst}`;
}

/** The page of a CronJob: its verdict with word and tone, and a line for each alert that is active. */
export function* ofCronJob(drawn: Drawn, detail: CronJobDetail, print: (words: string) => string): Generator<string> {
  const { verdict, activeAlerts } = detail;
  yield* ofVerdict(drawn, verdict, print);
  const [word, tone] = drawings[verdict.state];
  if (drawn.verdict?.tone !== tone || !drawn.marks.includes(`${word} ${tone}`))
    yield `it is ${verdict.state}, and is drawn as ${drawn.verdict?.tone} [${drawn.marks.join(', ')}]`;
  const lines = drawn.tables.find(({ label }) => label === `Alerts of ${nameOf(detail)}`)?.rows ?? [];
  if (lines.length !== activeAlerts.length) yield `it has ${lines.length} alerts, the service ${activeAlerts.length}`;
  for (const alert of activeAlerts)
    yield* ofRow(
      lines.find(({ key }) => key === alert.id),
      `alert ${alert.id}`,
      alert.verdict,
      print,
    );
}

/** The page of an alert says besides how severe it is and since when it holds. */
export function* ofAlert(drawn: Drawn, alert: Alert, print: (words: string) => string): Generator<string> {
  yield* ofVerdict(drawn, alert.verdict, print);
  for (const fact of [
    `Since ${alert.since.slice(0, 19).replace('T', ' ')}`,
    `Severity ${alert.severity === 'critical' ? 'Critical' : 'Warning'}`,
  ])
    if (!drawn.text.includes(fact)) yield `it does not say "${fact}"`;
  const [word, tone] = drawings[alert.severity];
  const mark = { active: `${word}, active ${tone}`, pending: 'Waiting off' }[alert.state as string];
  if (mark !== undefined ? !drawn.marks.includes(mark) : !drawn.marks.some((one) => /^Held back.* held$/.test(one)))
    yield `it is ${alert.state}, and is drawn as [${drawn.marks.join(', ')}]`;
}

function* ofVerdict({ verdict, text }: Drawn, expected: Verdict, print: (words: string) => string): Generator<string> {
  if (verdict?.sentence !== print(expected.words))
    yield `the verdict says "${verdict?.sentence}", and not "${print(expected.words)}"`;
  if (expected.state !== 'healthy' && (verdict?.checks ?? 0) > 0) yield `it is ${expected.state} and has a check`;
  for (const { words } of [...expected.holds, ...expected.findings])
    if (!text.includes(print(words))) yield `it does not say "${print(words)}"`;
  // A step that repeats a finding stands there once, as the finding.
  const isFinding = expected.findings.some(({ words }) => expected.step?.words.includes(words));
  if (expected.step && !isFinding && !text.includes(print(expected.step.words)))
    yield `it does not say "${print(expected.step.words)}"`;
}

export function* ofAlerts(
  { tables, cards }: Drawn,
  { alerts, incidents, history }: Pages,
  print: (words: string) => string,
): Generator<string> {
  const rows = tables.flatMap((table) => table.rows);
  for (const { id, verdict, cronjob } of alerts) {
    const row = rows.find(({ key }) => key === id);
    yield* ofRow(row, `alert ${id} of ${nameOf(cronjob)}`, verdict, print);
  }
  for (const { cronjob, verdict } of incidents) {
    const row = rows.find(({ key }) => key === nameOf(cronjob));
    yield* ofRow(row, nameOf(cronjob), verdict, print);
  }
  const ended = cards.find(({ title }) => title === 'History')?.note ?? '0';
  if (Number.parseInt(ended, 10) !== history.length) yield `"${ended}" ended, /alerts/history has ${history.length}`;
}

export function* ofTargets({ tables, text }: Drawn, { targets }: Pages): Generator<string> {
  const rows = tables.find(({ label }) => label === 'Targets')?.rows ?? [];
  if (rows.length !== targets.length) yield `${rows.length} rows of ${targets.length} targets; ${text.slice(0, 80)}`;
  const words = { breached: 'Breached', pending: 'Not judged yet', atRisk: 'At risk', noData: 'No data', met: 'Met' };
  for (const { cronjob, monitor, subject, verdict } of targets) {
    const key = `${nameOf(cronjob)} ${nameOf(monitor)} ${subject}`;
    const row = rows.find((one) => one.key === key);
    if (!row?.badges.includes(words[verdict])) yield `${key} is ${verdict} and shows [${row?.badges.join(', ')}]`;
    if (row && verdict !== 'met' && row.checks > 0) yield `${key} is ${verdict} and has a check`;
  }
}

export function* ofMonitor(
  { tables }: Drawn,
  { cronJobs }: Pages,
  print: (words: string) => string,
): Generator<string> {
  for (const { label, rows } of tables) {
    if (!label.startsWith('CronJobs of')) continue;
    for (const row of rows) {
      const item = cronJobs.find((one) => nameOf(one) === row.key);
      if (item) yield* ofRow(row, `${row.key} in "${label}"`, item.verdict, print);
    }
  }
}
