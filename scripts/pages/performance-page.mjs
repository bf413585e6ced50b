import { cpus, release, totalmem } from 'node:os';

/**
 * @typedef {{ what: string, value: number, unit: string, budget?: number }} Figure
 * @typedef {{ name: string, at: string, conditions: string, figures: Figure[], notes: string[] }} Result
 */

const titles = {
  schedule: 'Schedules',
  redaction: 'Redaction of hostile logs',
  recording: 'Recording',
  steady: 'Under steady load',
  tick: "A tick of the dead-man's switch",
  sweep: 'The sweep of success rates and durations',
  latency: 'From the failure to the receiver',
  claim: 'Messages leaving the outbox',
  failover: 'A leader that goes, and a rollout',
  api: 'The API',
  clusters: 'Many clusters of one database',
  prune: 'History that goes',
  bytes: 'What a run takes on disk',
  ui: 'The user interface',
};

/**
 * The page of all benchmarks. Runs of one benchmark that differ in size stand side by side, so that the slope can be read.
 *
 * @param {Result[]} results in the order of the page
 * @returns {string}
 */
export function performancePage(results) {
  const [cpu] = cpus();
  const lines = [
    '# Performance',
    '',
    `Written by \`npm run bench\` on ${cpus().length} cores (${cpu?.model ?? 'unknown'}), ${Math.round(totalmem() / 2 ** 30)} GiB, Linux ${release().split('-')[0]}, Node ${process.version}. The load, the`,
    'database and the API server ran on the same machine. `npm run bench -- NAME` runs one of them; budgets are upper limits, and a figure over',
    'its budget is in bold type.',
  ];
  for (const [name, title] of Object.entries(titles)) {
    const ofName = results.filter((result) => result.name === name);
    if (ofName.length === 0) continue;
    const days = new Set(ofName.map(({ at }) => dayOf(at)));
    lines.push('', `## ${title}`, '', `\`npm run bench -- ${name}\`, ${[...days].join(' and ')}`);
    for (const group of groupByFigures(ofName)) lines.push('', ...tableOf(group));
  }
  const budgeted = results.flatMap(({ figures }) => figures).filter(({ budget }) => budget !== undefined);
  lines.push('', `Over budget: ${budgeted.filter(isOver).length} of ${budgeted.length} figures that have one.`);
  return `${lines.join('\n')}\n`;
}

function dayOf(at) {
  return new Date(at).toLocaleDateString('en-GB', { day: 'numeric', month: 'long', year: 'numeric', timeZone: 'UTC' });
}

/** Results that tell the same figures stand in one table. */
function groupByFigures(results) {
  const groups = new Map();
  for (const result of results) {
    const key = result.figures.map(({ what }) => withoutNumbers(what)).join('\n');
    groups.set(key, [...(groups.get(key) ?? []), result]);
  }
  return [...groups.values()];
}

const withoutNumbers = (text) => text.replaceAll(/[\d,.]+/g, '#');

function tableOf(group) {
  const isAlone = group.length === 1;
  const heads = isAlone ? ['measured'] : group.map((_, index) => String.fromCodePoint(97 + index));
  const conditions = isAlone
    ? [capitalised(group[0].conditions) + '.']
    : group.map(({ conditions: text }, index) => `- ${heads[index]}: ${text}`);
  const rows = group[0].figures.map(({ what, unit }, row) => {
    const cells = group.map(({ figures }) => cellOf(figures[row]));
    const limit = limitOf(
      group.map(({ figures }) => figures[row].budget),
      heads,
    );
    return `| ${isAlone ? what : commonWords(group.map(({ figures }) => figures[row].what))} | ${cells.join(' | ')} | ${limit} | ${unit} |`;
  });
  const notes = group.flatMap(({ notes: told }, index) =>
    told.map((note) => `- ${isAlone ? '' : `${heads[index]}: `}${note}`),
  );
  return [
    ...conditions,
    '',
    `| | ${heads.join(' | ')} | budget | unit |`,
    `|---|${heads.map(() => '--:').join('|')}|--:|---|`,
    ...rows,
    ...(notes.length > 0 ? ['', ...notes] : []),
  ];
}

/** `20`, or `300 (a, b), 600 (c)` where not all columns have the same. */
function limitOf(budgets, heads) {
  const distinct = new Set(budgets);
  if (distinct.size === 1) return budgets[0] ?? '';
  distinct.delete(undefined);
  return [...distinct]
    .map((budget) => `${budget} (${heads.filter((_, index) => budgets[index] === budget).join(', ')})`)
    .join(', ');
}

function commonWords(words) {
  return [...new Set(words)].join(' / ');
}

function cellOf(figure) {
  const { value } = figure;
  const text = value.toLocaleString('en-GB', { maximumFractionDigits: value < 10 ? 2 : value < 1_000 ? 1 : 0 });
  return isOver(figure) ? `**${text}**` : text;
}

function isOver({ value, budget }) {
  return budget !== undefined && !(value <= budget);
}

function capitalised(text) {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
