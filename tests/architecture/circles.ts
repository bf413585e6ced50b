import { importsOf, scriptOf } from './source-imports.ts';
import { resolveImport } from './walls.ts';

/**
 * The circles of imports among files, types included: each a list of paths that cannot be read one after the other. `read` gives a source.
 */
export function findCircles(paths: readonly string[], read: (path: string) => string): string[][] {
  const known = new Set(paths);
  const targets = new Map(
    paths.map((path) => [
      path,
      importsOf(scriptOf(path, read(path))).flatMap(({ specifier }) => {
        const target = resolveImport(path, specifier);
        return target !== undefined && known.has(target) ? [target] : [];
      }),
    ]),
  );
  return componentsOf(targets).filter((paths) => paths.length > 1);
}

/** Files that reach one another: Tarjan's strongly connected components. */
function componentsOf(targets: ReadonlyMap<string, readonly string[]>): string[][] {
  const found: string[][] = [];
  const order = new Map<string, number>();
  const lowest = new Map<string, number>();
  const open: string[] = [];
  const visit = (path: string): number => {
    const own = order.size;
    order.set(path, own);
    lowest.set(path, own);
    open.push(path);
    for (const target of targets.get(path) ?? []) {
      const reached = order.has(target) ? (open.includes(target) ? (order.get(target) ?? own) : own) : visit(target);
      lowest.set(path, Math.min(lowest.get(path) ?? own, reached));
    }
    if (lowest.get(path) === own) found.push(open.splice(open.indexOf(path)).sort());
    return lowest.get(path) ?? own;
  };
  for (const path of targets.keys()) if (!order.has(path)) visit(path);
  return found;
}
