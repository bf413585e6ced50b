// A thread runs a file of its own, which its owner names by `new URL('./x.ts', import.meta.url)`: a bundle needs it as one more program.
import { globSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';

const named = /new URL\(\s*(['"])(\.[^'"]+\.ts)\1,\s*import\.meta\.url\s*\)/g;
const sources = '{shared,controller,apiserver}/src/**/*.ts';

/**
 * Finds such files in the sources of the product, and a plugin of esbuild that points their owners to the bundled ones.
 *
 * @param {string} root Folder of the sources.
 * @returns {{ found: Record<string, string>, plugin: import('esbuild').Plugin }} `found`: the source of each by the name of its bundle.
 */
export function threadPrograms(root) {
  const owners = globSync(sources, { cwd: root }).filter((path) => !path.endsWith('.test.ts'));
  const targets = owners.flatMap((path) => {
    const owner = join(root, path);
    return [...readFileSync(owner, 'utf8').matchAll(named)].map(([, , target]) => join(dirname(owner), target));
  });
  const found = Object.fromEntries(targets.map((source) => [bundleOf(root, source), source]));
  const plugin = {
    name: 'thread-programs',
    setup(build) {
      build.onLoad({ filter: /\.ts$/ }, ({ path }) => {
        const text = readFileSync(path, 'utf8');
        if (!text.includes('import.meta.url')) return undefined;
        const contents = text.replaceAll(
          named,
          (_whole, _quote, target) => `new URL('./${bundleOf(root, join(dirname(path), target))}.js', import.meta.url)`,
        );
        return { contents, loader: 'ts' };
      });
    },
  };
  return { found, plugin };
}

function bundleOf(root, source) {
  return relative(root, source).replaceAll(/[/\\]/g, '-').replace(/\.ts$/, '');
}
