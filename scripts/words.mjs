// Prints every sentence that people read: of errors, of findings and conditions, of the log. `npm run check -- words TEXT` prints those with TEXT.
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { readSources } from './measure-house.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const ts = createRequire(join(root, 'webui/package.json'))('typescript');

const logCall = /(^|\.)#?(log|logger|sinks?)\.(debug|info|warn|error|audit)$/;
const errorCall = /(Error|^(fail|failed|broken|problem|unusable|refuse|invalid\w*|conflict))$/;
/** Fields whose text is shown as it stands. */
const shownField = /^(message|problem|sentence|reason|why|says|happened|hint|title|summary|note|label|description)$/;

/** Sentences of one source: what it is, the line, and the text with … for what is put in. */
export function sentencesOf(path, source) {
  const file = ts.createSourceFile(path, source, ts.ScriptTarget.Latest, true);
  const found = [];
  const visit = (node) => {
    const text = textOf(node);
    if (text !== undefined && /[\p{L}…] [\p{L}…]/u.test(text)) {
      const kind = kindOf(node);
      const { line } = file.getLineAndCharacterOfPosition(node.getStart(file));
      if (kind !== undefined) found.push({ kind, line: line + 1, text });
    }
    ts.forEachChild(node, visit);
  };
  visit(file);
  return found;
}

function textOf(node) {
  if (ts.isStringLiteral(node) || ts.isNoSubstitutionTemplateLiteral(node)) return node.text;
  if (!ts.isTemplateExpression(node)) return undefined;
  return node.head.text + node.templateSpans.map(({ literal }) => `…${literal.text}`).join('');
}

/** Of the nearest call or field around a text; undefined for one that no person reads. */
function kindOf(node) {
  for (let at = node; at.parent && !ts.isBlock(at.parent); at = at.parent) {
    const { parent } = at;
    if (ts.isPropertyAssignment(parent) && parent.initializer === at) {
      return shownField.test(parent.name.getText()) ? 'shown' : undefined;
    }
    if (ts.isNewExpression(parent) || ts.isCallExpression(parent)) {
      const callee = parent.expression.getText();
      if (logCall.test(callee)) return 'log';
      if (errorCall.test(callee)) return 'error';
    }
    if (ts.isThrowStatement(parent)) return 'error';
  }
  return undefined;
}

/** All of them, ordered by kind and text: what is said twice stands side by side. */
export function allSentences() {
  return [...readSources()]
    .filter(([path]) => path.endsWith('.ts') && !path.includes('/openapi/schemas/'))
    .flatMap(([path, source]) => sentencesOf(path, source).map((sentence) => ({ path, ...sentence })))
    .sort((a, b) => a.kind.localeCompare(b.kind) || a.text.localeCompare(b.text));
}

if (process.argv[1] !== undefined && resolve(process.argv[1]) === fileURLToPath(import.meta.url)) {
  const wanted = process.argv.slice(2).join(' ').toLowerCase();
  const sentences = allSentences().filter(({ text }) => text.toLowerCase().includes(wanted));
  for (const { kind, path, line, text } of sentences)
    console.log(`${kind.padEnd(5)}  ${text.replaceAll('\n', ' ')}  (${path}:${line})`);
  console.log(`${sentences.length} sentences`);
}
