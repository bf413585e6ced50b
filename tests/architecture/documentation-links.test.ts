import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { delimiter, join, posix } from 'node:path';
import { test } from 'node:test';
import { listFiles, projectFolder, readProjectFile } from './project-files.ts';

/** The anchors of a page, as they are made of its headings. */
function anchorsOf(text: string): Set<string> {
  const headings = [...text.replaceAll(/^```[^]*?^```$/gm, '').matchAll(/^#+ (.+)$/gm)].map(
    ([, heading = '']) => heading,
  );
  return new Set(
    headings.map((heading) =>
      heading
        .toLowerCase()
        .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
        .replaceAll(' ', '-'),
    ),
  );
}

/** Links of a page to files of the repository that lead nowhere. */
function findDeadLinks(page: string, text: string, read: (path: string) => string | undefined): string[] {
  // A regular expression in backticks is no link.
  const links = [...text.replaceAll(/`[^`\n]*`/g, '').matchAll(/\]\(([^)\s]+)\)|(?:src|srcset)="([^"]+)"/g)].map(
    ([, link, source]) => link ?? source ?? '',
  );
  return links
    .filter((link) => !/^[a-z]+:/.test(link))
    .filter((link) => {
      const [path = '', anchor] = link.split('#');
      const target = path === '' ? page : posix.join(posix.dirname(page), path);
      const found = read(target);
      return found === undefined || (anchor !== undefined && !anchorsOf(found).has(anchor));
    });
}

test('links between the pages lead somewhere', () => {
  const read = (path: string): string | undefined => {
    if (!existsSync(`${projectFolder}${path}`)) return undefined;
    return path.endsWith('.md') ? readProjectFile(path) : '';
  };
  const pages = listFiles('{*.md,docs/**/*.md}');
  assert.ok(pages.length > 15);
  for (const page of pages) assert.deepEqual(findDeadLinks(page, readProjectFile(page), read), [], page);
});

test('a link to a page or a heading that is not there is found', () => {
  const pages: Record<string, string> = { 'docs/a.md': '# One\n\n## Two words, and `more`\n', 'b.png': '' };
  const dead = (text: string) => findDeadLinks('docs/c.md', text, (path) => pages[path]);
  assert.deepEqual(dead('[a](a.md) [b](a.md#two-words-and-more) [c](../b.png) [d](https://example.org/#x)'), []);
  assert.deepEqual(dead('[a](b.md) [b](a.md#three) [c](#four) <img src="x.png">'), [
    'b.md',
    'a.md#three',
    '#four',
    'x.png',
  ]);
});

test('every command that the pages name starts with any Node from 20 on, or says what is missing', () => {
  const named = listFiles('{*.md,docs/**/*.md}').flatMap((page) =>
    [...readProjectFile(page).matchAll(/\bnode (scripts\/[\w/-]+\.mjs)/g)].map(([, script = '']) => script),
  );
  const scripts = [...new Set(named)];
  assert.ok(scripts.length > 6);
  for (const script of scripts) {
    const [head = '', ...rest] = readProjectFile(script).split('await inNode24();');
    assert.equal(rest.length, 1, `${script} does not go on in Node 24`);
    assert.doesNotMatch(head, /from '(?:@cronjob-monitor|.*\.ts')/, `${script} imports what needs Node 24 before it`);
  }
  const run = (node: string, ...flags: string[]) =>
    spawnSync(node, [...flags, 'scripts/cronjob-monitor.mjs', '--help'], { cwd: projectFolder, encoding: 'utf8' });
  // This Node calls itself an older one, and there is no other.
  const older = `Object.defineProperty(process.versions, 'node', { value: '20.11.0' })`;
  const missing = run(process.execPath, '--import', `data:text/javascript,${encodeURIComponent(older)}`);
  assert.equal(missing.status, 1);
  assert.match(
    missing.stderr,
    /^This is Node 20\.11\.0; Node 24 of the lockfile is missing\. Run "[^"]+" and look at its errors\.\n$/,
  );
  for (const folder of new Set((process.env['PATH'] ?? '').split(delimiter))) {
    const [, major] =
      /^v(\d+)/.exec(spawnSync(join(folder, 'node'), ['--version'], { encoding: 'utf8' }).stdout ?? '') ?? [];
    if (!['20', '21', '22', '23'].includes(major ?? '')) continue;
    const { status, stdout, stderr } = run(join(folder, 'node'));
    assert.deepEqual([status, stderr], [0, ''], `Node ${major}`);
    assert.match(stdout, /COMMAND --help says more/);
    break;
  }
});

interface Story {
  readonly heading: string;
  /** How many files the heading says that the call enters. */
  readonly says: number;
  readonly steps: readonly string[];
}

/** The numbered lists of a page below headings that end with a number of files. */
function storiesOf(text: string): Story[] {
  return text.split(/^### /m).flatMap((part) => {
    const [, heading, says] = /^(.+): (\d+) files$/m.exec(part) ?? [];
    const steps = [...part.matchAll(/^\d+\. (.+)$/gm)].map(([, step = '']) => step);
    return heading === undefined ? [] : [{ heading, says: Number(says), steps }];
  });
}

/** So many steps each story has at most: a reader holds no more in mind. */
const mostSteps = [26, 24, 12, 14, 24];

const numbers = ['first', 'second', 'third'];

/** Files of a story, those of steps that stand in another one too; and steps that name no file or no function of the sources. */
function followStory(story: Story, all: readonly Story[], read: (path: string) => string | undefined) {
  const files = new Set<string>();
  const wrong: string[] = [];
  for (const step of story.steps) {
    const [, from, to, place = ''] = /^steps (\d+) to (\d+) of the (\w+) story /.exec(step) ?? [];
    const other = all[numbers.indexOf(place)];
    if (other !== undefined && Number(to) <= other.steps.length) {
      const part = { ...other, steps: other.steps.slice(Number(from) - 1, Number(to)) };
      for (const file of followStory(part, all, read).files) files.add(file);
      continue;
    }
    const places = [...(/^(?:`[^`]+` · `[\w#]+`(?:, | — ))+/.exec(step)?.[0].matchAll(/`([^`]+)` · `([^`]+)`/g) ?? [])];
    for (const [, file = '', name = ''] of places) {
      files.add(file);
      const declared = new RegExp(`(?:function\\*? |const |^ +(?:async )?\\*?)${name}[(<:]|const ${name} =`, 'm');
      if (!declared.test(read(file) ?? '')) wrong.push(step);
    }
    if (places.length === 0) wrong.push(step);
  }
  return { files, wrong };
}

test('the stories of architecture.md name functions that their files have, and count the files', () => {
  const read = (path: string): string | undefined => {
    const found = ['controller', 'apiserver', 'shared'].map((room) => `${room}/src/${path}`);
    const there = found.filter((each) => existsSync(`${projectFolder}${each}`));
    return there.length === 1 ? readProjectFile(there[0] ?? '') : undefined;
  };
  const stories = storiesOf(readProjectFile('docs/architecture.md'));
  assert.equal(stories.length, mostSteps.length);
  for (const [index, story] of stories.entries()) {
    assert.ok(story.steps.length <= (mostSteps[index] ?? 0), `${story.heading}: ${story.steps.length} steps`);
    const { files, wrong } = followStory(story, stories, read);
    assert.deepEqual(wrong, [], story.heading);
    assert.equal(story.says, files.size, story.heading);
  }
});

test('a step that names no function of its file is found, and the files of another story are counted', () => {
  const text = '### One: 2 files\n\n1. `a.ts` · `begin` — begins\n2. `b.ts` · `#end` — ends\n### Two: 1 files\n\n1. ';
  const sources: Record<string, string> = {
    'a.ts': 'export function begin() {}',
    'b.ts': 'class B {\n  async #end() {',
  };
  const read = (path: string) => sources[path];
  const follow = (step: string) => {
    const stories = storiesOf(text + step);
    const [, second] = stories;
    assert.ok(second);
    const { files, wrong } = followStory(second, stories, read);
    return [[...files], wrong.length];
  };
  assert.deepEqual(follow('steps 1 to 2 of the first story — as there'), [['a.ts', 'b.ts'], 0]);
  assert.deepEqual(follow('`b.ts` · `#end` — ends'), [['b.ts'], 0]);
  assert.deepEqual(follow('`a.ts` · `begin`, `b.ts` · `#end` — begin and end'), [['a.ts', 'b.ts'], 0]);
  for (const step of [
    '`a.ts` · `end` — ends',
    '`c.ts` · `begin` — begins',
    '`a.ts` · `begin`, `b.ts` · `end` — begin and end',
    'begins',
    'steps 1 to 3 of the first story — x',
  ])
    assert.equal(follow(step)[1], 1, step);
});
