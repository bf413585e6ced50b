// Writes docs/resources.md from the CustomResourceDefinitions of the chart; with --check it only tells whether the page is current.
import { fieldsAt, fieldsBelow, readResource, rulesBelow } from './resource-fields.mjs';
import { keepPage, table } from './written-page.mjs';
import { inNode24 } from '../in-node-24.mjs';

await inNode24();
const { introduction, notes } = await import('./resources-text.mjs');

const head = ['field', 'type', 'default', 'allowed', 'what it is for'];

/** One kind: its fields by block, those without a block first. */
function chapterOf(plural) {
  const { kind, spec, status } = readResource(plural);
  const [blocks, plain] = split(spec);
  return [
    `## ${kind}: spec\n\n${sentence(spec.description)}\n`,
    plain.length > 0 && fieldTable(kind, plain),
    rulesOf(spec, 'spec', (path) => path === 'spec'),
    ...blocks.map(([name, block]) => sectionOf(kind, name, block)),
    `## ${kind}: status\n\n${sentence(status.description)}\n`,
    fieldTable(kind, fieldsBelow(status, 'status')),
    notes[`${kind} status`],
  ]
    .filter(Boolean)
    .join('\n');
}

/** Fields that have fields of their own, and those that have not. */
function split(spec) {
  const entries = Object.entries(spec.properties);
  const blocks = entries.filter(([, child]) => child.properties ?? child.items?.properties);
  const plain = entries.filter((entry) => !blocks.includes(entry));
  return [blocks, plain.flatMap(([name, child]) => fieldsAt(child, name, spec.required?.includes(name) ?? false))];
}

function sectionOf(kind, name, block) {
  const usual = block.default === undefined ? '' : ` Default \`${JSON.stringify(block.default)}\`.`;
  const [own, ...fields] = fieldsAt(block, name, false);
  const bounds = own.allowed === '' ? '' : ` A list: ${own.allowed}.`;
  return [
    `### ${name}\n\n${sentence(block.description)}${bounds}${usual}\n`,
    fieldTable(kind, fields),
    rulesOf(block, name, () => true),
    notes[name],
  ]
    .filter(Boolean)
    .join('\n');
}

function fieldTable(kind, fields) {
  const rows = fields.map((field) => [
    `\`${field.path}\``,
    field.type,
    field.default,
    field.allowed,
    meaningOf(kind, field),
  ]);
  if (!fields[0].path.startsWith('status.')) return table(head, rows);
  return table(
    head.filter((column) => column !== 'default'),
    rows.map(([path, type, , allowed, meaning]) => [path, type, allowed, meaning]),
  );
}

function meaningOf(kind, { path, description }) {
  if (description === undefined) throw new Error(`${kind} ${path} has no description in its CustomResourceDefinition`);
  return description;
}

function rulesOf(schema, path, isAsked) {
  const lines = rulesBelow(schema, path)
    .filter((rule) => isAsked(rule.path))
    .map((rule) => `- \`${rule.path}\`: ${rule.message}.`);
  return lines.length === 0 ? '' : `The API server refuses what breaks a rule:\n\n${lines.join('\n')}\n`;
}

function sentence(text) {
  return text.endsWith('.') ? text : `${text}.`;
}

const kinds = ['cronjobmonitors', 'alertchannels'];
const page = [introduction(kinds.map(readResource)), ...kinds.map(chapterOf)].join('\n');
keepPage('resources.md', page, 'resources-page.mjs');
