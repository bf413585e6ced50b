// Writes docs/configuration.md from the table of the configuration; with --check it only tells whether the page is current.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { inNode24 } from '../in-node-24.mjs';

await inNode24();
const { configKeys, defaultText, idleKeys, rowOf, variableOf } = await import('../../shared/src/config/index.ts');

const page = join(import.meta.dirname, '../..', 'docs', 'configuration.md');

const introduction = `# Configuration

This page is written by \`node scripts/pages/configuration-page.mjs\` from the table in \`shared/src/config/keys.ts\`.

## Where a value comes from

A flag wins over a variable, a variable over the file, the file over the default; each key for itself.

- **Flags:** \`--storage.type=postgres\` or \`--storage.type postgres\`; a bool alone means true; of a flag that is given
  twice the last one counts. Other users of the machine can read flags: give secrets by variable or file.
- **Variables:** \`MONITOR_\` and the key in upper case, dots and hyphens as underscores: \`MONITOR_STORAGE_POSTGRES_SSL_MODE\`. An empty
  value is a value. A variable that begins so and is no key stops the start, but for the names that Kubernetes gives Services.
- **File:** \`--config FILE\`, else \`/etc/cronjob-monitor/config.yaml\`, else \`./config.yaml\`. YAML, at most 1 MiB, keys nested at their
  dots, \`null\` for not set:

\`\`\`yaml
log-level: info
storage:
  type: postgres
  postgres:
    host: db.prod.svc
    database: monitor
    username: monitor
    password-file: /etc/monitor/password
\`\`\`

All three processes take all keys, so one file serves them all. Values are read at the start, once; only certificates, tokens
and Secrets are read again while running.

\`--print-config\` prints what is in effect, with the source of each value, in the form of such a file; \`--help\` lists every key. What
cannot work stops the start with a line for each problem and exit status 2.

${idleKeys.reserved.map((key) => `\`${key}\``).join(', ')}
are accepted and do nothing; a warning at the start says so.

## Kinds of values

| kind | is |
|---|---|
| bool | \`true\` or \`false\` |
| int | a decimal number |
| duration | \`90s\`, \`1h30m\`, \`7d\`, \`2w\`: Go's syntax, and days of 24 hours and weeks of 7 days; longer than zero unless the table says 0 |
| list | a YAML list; in flags and variables items between commas, an empty text for an empty list |
| enum | one of the words |
| string | text; spaces around it stay |

## Keys

Used by: C the controller, A the apiserver, CA both; standalone is both. The default \`own\` is the namespace the process runs in, outside
a cluster that of the kubeconfig context. Secrets (marked so) are shown as \`***\` wherever they are shown.
`;

/** One table for each first part of the keys, those without a block first. */
function tables() {
  const blocks = Map.groupBy(configKeys, (key) => (key.includes('.') ? key.slice(0, key.indexOf('.')) : ''));
  return [...blocks].map(([block, keys]) => {
    const title = block === '' ? 'General' : block;
    const rows = keys.map(
      (key) => `| ${[`\`${key}\``, typeOf(key), defaultOf(key), rowOf(key).by, meaningOf(key)].join(' | ')} |`,
    );
    return `\n### ${title}\n\n| key | kind | default | by | meaning |\n|---|---|---|---|---|\n${rows.join('\n')}\n`;
  });
}

function typeOf(key) {
  const { kind } = rowOf(key);
  return kind.allowed === '' || kind.name === 'bool' ? kind.name : `${kind.name}: ${cell(kind.allowed)}`;
}

function defaultOf(key) {
  const text = defaultText(key);
  return ['none', 'own', 'empty'].includes(text) ? text : `\`${cell(text)}\``;
}

function meaningOf(key) {
  const { doc, sensitive } = rowOf(key);
  return cell(sensitive ? `${doc} Secret.` : doc);
}

function cell(text) {
  return text.replaceAll('|', '\\|');
}

const variables = `
The variable of a key follows from its name, as in \`${variableOf('leader-election.lease-duration')}\`.
`;

const text = introduction + variables + tables().join('');
if (!process.argv.includes('--check')) {
  writeFileSync(page, text);
} else if (!existsSync(page) || readFileSync(page, 'utf8') !== text) {
  console.error('docs/configuration.md is not what the table says: run node scripts/pages/configuration-page.mjs');
  process.exitCode = 1;
}
