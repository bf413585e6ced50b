import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { parse } from 'svelte/compiler';

/** What neither the linter nor the type check sees in a template. */
function problemsOf(source: string): string[] {
  const problems: string[] = [];
  walk(parse(source, { modern: true }).fragment, (node) => {
    const { type, start } = node;
    if (typeof type !== 'string' || typeof start !== 'number') return;
    const line = source.slice(0, start).split('\n').length;
    if (type === 'HtmlTag') problems.push(`line ${line}: {@html} would show text of strangers as markup`);
    if (type === 'EachBlock' && !node['key']) problems.push(`line ${line}: {#each} has no key`);
    if (type === 'Attribute' && node['name'] === 'style') {
      problems.push(`line ${line}: the policy refuses style="…"; write style:property`);
    }
    if (type === 'Attribute' && /^on[a-z]+$/.test(String(node['name'])) && isText(node['value'])) {
      problems.push(`line ${line}: a handler in text is inline code`);
    }
    if (type === 'RegularElement' && (node['name'] === 'script' || node['name'] === 'style')) {
      problems.push(`line ${line}: an element <${node['name']}> inside the template`);
    }
  });
  return problems;
}

function isText(value: unknown): boolean {
  return Array.isArray(value) && value.some((part: { type?: string }) => part.type === 'Text');
}

function walk(node: unknown, look: (node: Readonly<Record<string, unknown>>) => void): void {
  if (typeof node !== 'object' || node === null) return;
  if (!Array.isArray(node)) look(node as Readonly<Record<string, unknown>>); // an object that is no list
  for (const value of Object.values(node)) walk(value, look);
}

const folder = fileURLToPath(new URL('.', import.meta.url));
const components = globSync('**/*.svelte', { cwd: folder });

test('no template brings markup of strangers, a list without keys, or what the policy refuses', () => {
  assert.ok(components.length > 60, 'the components are found');
  const found = components.flatMap((file) =>
    problemsOf(readFileSync(`${folder}/${file}`, 'utf8')).map((problem) => `${file}: ${problem}`),
  );
  assert.deepEqual(found, []);
});

test('the user interface is at most 110 components: a slice with one parent is told in it', () => {
  assert.ok(components.length <= 110, `there are ${components.length}`);
});

test('a sentence that may be cut has the whole of it in its tooltip', () => {
  const source = readFileSync(`${folder}/kit/sentence/Sentence.svelte`, 'utf8');
  assert.match(source, /data-tip=\{lines && safe\}/);
});

describe('a template is refused', () => {
  const rows = [
    ['for markup', '<p>{@html text}</p>', /@html/],
    ['for a list without a key', '{#each items as item}{item}{/each}', /no key/],
    ['for a style in text', '<p style="color: red">x</p>', /style/],
    ['for a style that is computed as text', '<p style={text}>x</p>', /style/],
    ['for a handler in text', '<button onclick="go()">x</button>', /inline code/],
  ] as const;
  for (const [title, source, problem] of rows) {
    test(title, () => assert.match(problemsOf(source).join(), problem));
  }

  test('and not for their good forms', () => {
    assert.deepEqual(
      problemsOf('{#each items as item (item.id)}<p style:color="x" onclick={go}>{item.text}</p>{/each}'),
      [],
    );
  });
});

test('a page draws what it alone draws, and composes the rest: it is one subject of 220 lines at most', () => {
  const long = components
    .filter((file) => /pages[/\\][^/\\]+[/\\]Page\.svelte$/.test(file))
    .map((file) => ({ file, lines: readFileSync(`${folder}/${file}`, 'utf8').split('\n').length }))
    .filter(({ lines }) => lines > 220);
  assert.deepEqual(long, []);
});
