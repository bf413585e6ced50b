// A thread runs a file of its own, which its owner names by `new URL('./x.ts', import.meta.url)`: a bundle needs it as one more program.
import { readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';

const named = /new URL\(\s*(['"])(\.[^'"]+\.ts)\1,\s*import\.meta\.url\s*\)/g;

/**
 * A plugin of esbuild that finds such files and points their owners to the bundled ones; `found` has the source of each by the name
 * of its bundle.
 *
 * @param {string} root Folder of the sources.
 * @returns {{ found: Map<string, string>, plugin: import('esbuild').Plugin }}
 */
export function threadPrograms(root) {
  const found = new Map();
  const plugin = {
    name: 'thread-programs',
    setup(build) {
      build.onLoad({ filter: /\.ts$/ }, ({ path }) => {
        const text = readFileSync(path, 'utf8');
        if (!text.includes('import.meta.url')) return undefined;
        const contents = text.replaceAll(named, (_whole, _quote, target) => {
          const source = join(dirname(path), target);
          const bundle = relative(root, source).replaceAll(/[/\\]/g, '-').replace(/\.ts$/, '');
          found.set(bundle, source);
          return `new URL('./${bundle}.js', import.meta.url)`;
        });
        return { contents, loader: 'ts' };
      });
    },
  };
  return { found, plugin };
}
