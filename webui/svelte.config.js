import { readdirSync } from 'node:fs';
import { join } from 'node:path';

/** Every component, in an order that each machine finds them in. */
const components = readdirSync(join(import.meta.dirname, 'src'), { recursive: true })
  .filter((file) => file.endsWith('.svelte'))
  .sort((a, b) => (a < b ? -1 : 1));

// Svelte strips types by itself: components use erasable syntax only, and plain CSS.
export default {
  compilerOptions: {
    // A class that keeps a component's styles to it is short: a hash does not get smaller, and stands a thousand times in the style sheet.
    cssHash: ({ filename, hash, css }) => {
      const at = components.findIndex((component) => filename.endsWith(join('src', component)));
      return at < 0 ? `s-${hash(css)}` : `s${at.toString(36)}`;
    },
  },
};
