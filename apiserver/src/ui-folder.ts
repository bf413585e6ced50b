import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** Where the built user interface lies: beside a bundle, or where the workspace builds it. */
const candidates = ['./ui', '../../webui/dist'];

/** Undefined when it was not built: then there are no pages, and the API is served alone. */
export function findUiFolder(): string | undefined {
  return candidates
    .map((candidate) => fileURLToPath(new URL(candidate, import.meta.url)))
    .find((folder) => existsSync(`${folder}/index.html`));
}
