// Writes docs/metrics.md from the families that the processes define; with --check it only tells whether the page is current.
import { keepPage, table } from './written-page.mjs';
import { inNode24 } from '../in-node-24.mjs';

await inNode24();
const { readFamilies } = await import('./metric-families.mjs');
const { ending, introduction, labelValues } = await import('./metrics-text.mjs');

/** Each family belongs to the first group that has it. */
const groups = [
  {
    title: 'CronJobs',
    of: 'The leading controller.',
    has: /^cronjob_monitor_(success_rate|duration_seconds|run_fact|executions_total|active_alerts|alerts(_failed)?_total)$/,
  },
  {
    title: 'The fleet',
    of: 'The leading controller.',
    has: /^cronjob_monitor_(cronjobs|cronjob_states|coverage|monitors|alerts_open|slots_total|execution.*)$/,
  },
  {
    title: 'Messages and channels',
    of: 'The leading controller.',
    has: /^cronjob_monitor_(alert|deliver|channel|notification)/,
  },
  {
    title: 'Watching and judging',
    of: 'Every controller; what only the leader does stays absent or at 0 on others.',
    has: /^cronjob_monitor_(leader|watch|blind|clock|scheduler|snapshots|evidence|prune|rollup|heartbeat)/,
  },
  {
    title: 'Reconciling',
    of: 'Every controller; a follower reconciles nothing, so its counters stay at 0. Names are those of controller-runtime.',
    has: /^(controller_runtime|workqueue)_/,
  },
  { title: 'The API', of: 'The apiserver.', has: /^cronjob_monitor_api_/ },
  { title: 'Database and Kubernetes API', of: 'Every process.', has: /^cronjob_monitor_(db|kube|storage)_/ },
  {
    title: 'The process',
    of: 'Every process. Names that begin with `go_` are there for dashboards that know them; what they mean here stands beside them.',
    has: /^(go_|process_|cronjob_monitor_(build|event_loop|certificate|scrape|symptom))/,
  },
];

const families = await readFamilies();
const byGroup = Map.groupBy(families, ({ name }) => {
  const group = groups.find(({ has }) => has.test(name));
  if (group === undefined) throw new Error(`${name} belongs to no group of the page`);
  return group;
});

/** One group: its metrics in the order of the sources. */
function chapterOf({ title, of }, ofGroup) {
  const rows = ofGroup.map(({ name, type, labels, help }) => [
    `\`${name}\``,
    type,
    labels.map((label) => `\`${label}\``).join(', '),
    help,
  ]);
  return `## ${title}\n\n${of}\n\n${table(['metric', 'type', 'labels', 'meaning'], rows)}`;
}

const values = table(
  ['label', 'of', 'values'],
  labelValues.map(([label, of, ...words]) => [`\`${label}\``, of, words.join(', ')]),
);
const unexplained = [...new Set(families.flatMap(({ labels }) => labels))].filter(
  (label) => !labelValues.some(([known]) => known === label),
);
if (unexplained.length > 0) throw new Error(`no word about these labels: ${unexplained.join(', ')}`);

const page = [
  introduction,
  ...groups.map((group) => chapterOf(group, byGroup.get(group) ?? [])),
  `## Values of labels\n\n${values}`,
  ending,
].join('\n');
keepPage('metrics.md', page, 'metrics-page.mjs');
