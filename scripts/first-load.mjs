// How much JavaScript a browser must fetch before each page works, and whether that is within its budget.
import { gzipSync } from 'node:zlib';

/** Bytes, gzipped: of any page, and of the first one. */
export const budgets = { page: 143_000, dashboard: 93_000, styles: 16_000 };

/**
 * @typedef {{ type: string, fileName: string, code?: string, source?: string | Uint8Array, isEntry?: boolean, facadeModuleId?: string | null, imports?: string[] }} Output
 * @param {Record<string, Output>} bundle What the build is about to write, by file name.
 * @returns {{ page: string, bytes: number, budget: number }[]} One line a page, and one for the styles.
 */
export function firstLoads(bundle) {
  const outputs = Object.values(bundle);
  const entries = outputs.filter(({ isEntry }) => isEntry);
  const pages = outputs.flatMap((output) => {
    const name = /\/src\/pages\/([^/]+)\/Page\.svelte$/.exec(output.facadeModuleId ?? '')?.[1];
    return name === undefined ? [] : [{ name, output }];
  });
  const scripts = pages.map(({ name, output }) => ({
    page: name,
    bytes: sum([...closure(bundle, [...entries, output])].map(({ code = '' }) => gzippedBytes(code))),
    budget: name === 'dashboard' ? budgets.dashboard : budgets.page,
  }));
  const styles = outputs.filter(({ fileName }) => fileName.endsWith('.css'));
  const styleBytes = sum(styles.map(({ source = '' }) => gzippedBytes(source)));
  return [...scripts, { page: 'styles', bytes: styleBytes, budget: budgets.styles }];
}

/** A plugin of the build that ends it when a budget is passed. */
export function firstLoadBudget() {
  return {
    name: 'first-load-budget',
    apply: 'build',
    // After the style sheet is written into the bundle: before that there is none to judge.
    enforce: 'post',
    generateBundle(_options, bundle) {
      const loads = firstLoads(bundle);
      if (loads.length < 2) this.error('no page was found in the build: the budget of the first load cannot be judged');
      const over = loads.filter(({ bytes, budget }) => bytes > budget);
      for (const { page, bytes, budget } of over) {
        this.warn(`${page}: ${bytes} bytes gzipped at the first load, ${budget} are allowed`);
      }
      if (over.length > 0) this.error(`${over.length} over the budget of the first load`);
    },
  };
}

/** The files and all they import at once, each a single time. */
function closure(bundle, from) {
  const seen = new Set();
  const visit = (output) => {
    if (!output || seen.has(output)) return;
    seen.add(output);
    for (const name of output.imports ?? []) visit(bundle[name]);
  };
  from.forEach(visit);
  return seen;
}

function gzippedBytes(text) {
  return gzipSync(text, { level: 9 }).length;
}

function sum(values) {
  return values.reduce((total, value) => total + value, 0);
}
