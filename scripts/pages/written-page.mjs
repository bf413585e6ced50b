// What scripts that write pages of the documentation have in common.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const folder = join(import.meta.dirname, '../..', 'docs');

/** Writes a page; with --check it only tells whether the page is current, and ends with 1 when it is not. */
export function keepPage(name, text, script) {
  const page = join(folder, name);
  if (!process.argv.includes('--check')) {
    writeFileSync(page, text);
  } else if (!existsSync(page) || readFileSync(page, 'utf8') !== text) {
    console.error(`docs/${name} is not what the sources say: run node scripts/pages/${script}`);
    process.exitCode = 1;
  }
}

/** The same for sections of a page that people write: each stands between two comments, under a name of its own. */
export function keepSections(name, sections, script) {
  let text = readFileSync(join(folder, name), 'utf8');
  for (const [section, made] of Object.entries(sections)) {
    const [begin, end] = [
      `<!-- ${section}: written by node scripts/pages/${script} -->\n`,
      `<!-- end of ${section} -->`,
    ];
    const parts = text.split(new RegExp(`(?<=${escapeForRegExp(begin)})[^]*?(?=${end})`));
    if (parts.length !== 2) throw new Error(`docs/${name} needs exactly one section ${begin.trim()} … ${end}`);
    text = parts.join(`\n${made.trim()}\n\n`);
  }
  keepPage(name, text, script);
}

/** A text as a cell of a table. */
function cell(text) {
  return text.replaceAll('|', '\\|').replaceAll('\n', ' ');
}

/** A table of Markdown. */
export function table(head, rows) {
  const line = (cells) => `| ${cells.map(cell).join(' | ')} |\n`;
  return `${line(head)}|${'---|'.repeat(head.length)}\n${rows.map(line).join('')}`;
}

function escapeForRegExp(text) {
  return text.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);
}
