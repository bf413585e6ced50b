import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { svelte } from '@sveltejs/vite-plugin-svelte';
import tailwindcss from '@tailwindcss/vite';
import { defineConfig, type Plugin } from 'vite';
import { firstLoadBudget } from '../scripts/first-load.mjs';

/** Widgets of bits-ui that the kit uses: its own door names all forty, and compiling them takes longer than all the rest. */
const widgets = { Dialog: 'dialog', DropdownMenu: 'dropdown-menu', Popover: 'popover', Tooltip: 'tooltip' };

function onlyOurWidgets(): Plugin {
  const door = '\0widgets';
  return {
    name: 'only-our-widgets',
    enforce: 'pre',
    resolveId: (id) => (id === 'bits-ui' ? door : undefined),
    load(id) {
      if (id !== door) return undefined;
      // The package has one door alone; the widgets lie beside it.
      const folder = join(dirname(fileURLToPath(import.meta.resolve('bits-ui'))), 'bits');
      return Object.entries(widgets)
        .map(([name, file]) => `export { ${name} } from ${JSON.stringify(join(folder, file, 'index.js'))};`)
        .join('\n');
    },
  };
}

/**
 * The theme is set before the first paint by a small file of its own: the page's policy refuses inline code, and a module would come too
 * late. Its name holds its hash, as everything below /assets/ is kept by browsers for a year.
 */
function themeBeforePaint(): Plugin {
  const source = fileURLToPath(new URL('src/theme.js', import.meta.url));
  let isBuild = false;
  return {
    name: 'theme-before-paint',
    configResolved: ({ command }) => void (isBuild = command === 'build'),
    buildStart() {
      if (isBuild) this.emitFile({ type: 'asset', name: 'theme.js', source: readFileSync(source, 'utf8') });
    },
    transformIndexHtml: {
      order: 'post',
      handler(_html, { bundle }) {
        const built = Object.values(bundle ?? {}).find(({ fileName }) => /^assets\/theme-.*\.js$/.test(fileName));
        const src = built ? `/${built.fileName}` : '/src/theme.js';
        return [{ tag: 'script', attrs: { src }, injectTo: 'head-prepend' }];
      },
    },
  };
}

/** Writes the files that the pages were made of to the file that SOURCES_OF_THE_UI names, for the bill of materials of the image. */
function sourcesForTheBill(): Plugin {
  return {
    name: 'sources-for-the-bill',
    apply: 'build',
    writeBundle(_options, bundle) {
      const file = process.env['SOURCES_OF_THE_UI'];
      if (file === undefined) return;
      const ids = Object.values(bundle).flatMap((one) => (one.type === 'chunk' ? one.moduleIds : []));
      writeFileSync(
        file,
        [...new Set(ids.filter((id) => id.startsWith('/')).map((id) => id.replace(/\?.*$/, '')))].sort().join('\n'),
      );
    },
  };
}

/** What comes with the first page. Widgets of bits-ui and what opens over a page come when they are used. */
function isShared(id: string): boolean {
  if (id.includes('/node_modules/')) return /\/node_modules\/(svelte|esm-env|clsx)\//.test(id);
  return !/Panel\.svelte|Dialog\.svelte|Palette\.svelte|HelpSheet|PhoneMenu|\/charts\/duration\//.test(id);
}

export default defineConfig({
  plugins: [onlyOurWidgets(), themeBeforePaint(), svelte(), tailwindcss(), firstLoadBudget(), sourcesForTheBill()],
  build: {
    outDir: 'dist',
    emptyOutDir: true,
    target: 'es2022',
    // The page's policy allows no inline code: neither data: modules nor the preload polyfill.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    // One style sheet, and one file for what most pages share: a page is three requests and not forty.
    cssCodeSplit: false,
    rolldownOptions: {
      output: {
        codeSplitting: { groups: [{ name: 'shared', test: isShared, minShareCount: 3 }] },
      },
    },
  },
});
