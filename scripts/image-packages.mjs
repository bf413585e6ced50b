// Copies packages with all they depend on, without what no process reads.
import { cpSync, existsSync, readFileSync, realpathSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, dirname, join, relative, sep } from 'node:path';

/** Needed to build a native part, which comes built. */
const forBuilding = new Set(['node-addon-api']);

/** Sources of native parts, types, maps, tests and commands: no process reads them. */
const unread = [
  /^(deps|src|test|tests|typings|types|benchmark|\.github)\//,
  /\.([cm]?ts|map|gyp|md|markdown|flow)$/i,
  /^(bin|scripts|examples?)\//,
];
const isLicence = (path) => /^(licen[cs]e|notice|copying)/i.test(basename(path));

/**
 * Lays packages out flat in `target`; a second version of one lies below who wants it.
 *
 * @param {readonly string[]} names Packages that `from` depends on.
 * @param {string} from Folder of a package of the workspace.
 * @param {string} target A folder called node_modules.
 */
export function copyPackages(names, from, target) {
  /** @type {Map<string, string>} Version in the flat layer by name. */
  const flat = new Map();
  const waiting = names.map((name) => ({ name, from, parent: target, optional: false }));
  for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
    const { name, parent } = next;
    const folder = findPackage(name, next.from);
    if (folder === undefined)
      throw new Error(`${name}, which ${relative(from, next.from) || from} needs, is not installed`);
    const { version, dependencies = {} } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
    if (flat.get(name) === version) continue;
    const place = flat.has(name) ? join(parent, name) : join(target, name);
    if (!flat.has(name)) flat.set(name, version);
    copyPackage(folder, place);
    for (const dependency of Object.keys(dependencies)) {
      if (!forBuilding.has(dependency)) {
        waiting.push({ name: dependency, from: folder, parent: join(place, 'node_modules') });
      }
    }
  }
}

/** The folder of a package as seen from another one; undefined when it is not installed. */
function findPackage(name, from) {
  const places = createRequire(join(realpathSync(from), 'package.json')).resolve.paths(name) ?? [];
  const found = places.map((place) => join(place, name)).find((folder) => existsSync(join(folder, 'package.json')));
  return found && realpathSync(found);
}

function copyPackage(folder, place) {
  const main = entryFolders(folder);
  cpSync(folder, place, {
    recursive: true,
    dereference: true,
    filter: (source) => {
      const path = relative(folder, source).split(sep).join('/');
      if (path === '') return true;
      if (path === 'node_modules' || path.startsWith('node_modules/')) return false;
      if (path.startsWith('prebuilds/')) return path === `prebuilds/${process.platform}-${process.arch}.node`;
      if (isLicence(path) || main.some((start) => path === start || path.startsWith(`${start}/`))) {
        return !/\.(d\.[cm]?ts|map)$|\.test\.[cm]?js$/.test(path);
      }
      return !unread.some((pattern) => pattern.test(path) || pattern.test(`${path}/`));
    },
  });
}

/** Folders that hold a package's main file, whatever they are called. */
function entryFolders(folder) {
  const { main } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  const start = typeof main === 'string' ? dirname(main.replace(/^\.\//, '')) : '.';
  return start === '.' ? [] : [start.split('/')[0]];
}
