import { globSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** The root of the repository. */
export const projectFolder = fileURLToPath(new URL('../..', import.meta.url));

/** What tools make or bring; it is not written by hand. */
const made =
  /(^|\/)(node_modules|dist|\.cache|\.git|\.test-output|\.data|\.venv|__pycache__)(\/|$)|^tests\/realcluster\/bin(\/|$)/;

/** Files of the repository that match the pattern, relative to its root, sorted. */
export function listFiles(pattern: string): string[] {
  return globSync(pattern, { cwd: projectFolder, exclude: (path) => made.test(path) })
    .filter((path) => !made.test(path))
    .sort();
}

export function readProjectFile(path: string): string {
  return readFileSync(`${projectFolder}${path}`, 'utf8');
}
