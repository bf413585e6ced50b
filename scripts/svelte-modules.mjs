// Loaded before a test file: lets Node import the state classes of the user interface (`*.svelte.ts`), which need a compiler,
// and modules that bring a style sheet, which draws nothing here.
import { readFileSync } from 'node:fs';
import { createRequire, registerHooks, stripTypeScriptTypes } from 'node:module';
import { fileURLToPath } from 'node:url';

const require = createRequire(new URL('../webui/package.json', import.meta.url));

registerHooks({
  load(url, context, nextLoad) {
    if (url.endsWith('.css')) return { format: 'module', source: '', shortCircuit: true };
    if (!url.endsWith('.svelte.ts')) return nextLoad(url, context);
    const filename = fileURLToPath(url);
    const source = stripTypeScriptTypes(readFileSync(filename, 'utf8'));
    const { js } = require('svelte/compiler').compileModule(source, { filename, generate: 'client' });
    return { format: 'module', source: js.code, shortCircuit: true };
  },
});
