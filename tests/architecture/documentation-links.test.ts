import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { posix } from 'node:path';
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
