// What a process never asks for costs it neither time nor memory: parts of large packages, and of Node, are left out or put off.
import { createRequire } from 'node:module';
import { dirname } from 'node:path';

/** Its parts do nothing when they are loaded: what is not named is left out. */
const withoutSideEffects = ['@kubernetes/client-node'];

/** Imported at the top of the Kubernetes client, for proxies and for sign-in by OpenID, which few kubeconfigs ask for. */
const lateLoaded = ['socks-proxy-agent', 'socks', 'hpagent', 'openid-client'];

/**
 * Modules of Node with exports that are expensive to make and made at their first use: `import` reads every export at once, which with
 * `node:http` loads the engine of fetch and WebSocket, 13 MB of a bare process; `require` reads none.
 */
const requiredBuiltins = /^(node:)?http$/;

/**
 * Of undici what the Kubernetes client and our transport name, each from its own file: the index loads all else there is, down to its mocks. What the index
 * does besides is to give a dispatcher its methods.
 */
const partsOfUndici = `
  import Dispatcher from 'undici/lib/dispatcher/dispatcher.js';
  import api from 'undici/lib/api/index.js';
  Object.assign(Dispatcher.prototype, api);
  export { default as Agent } from 'undici/lib/dispatcher/agent.js';
  export { default as ProxyAgent } from 'undici/lib/dispatcher/proxy-agent.js';
  export const Socks5ProxyAgent = function (...options) {
    return new (require('undici/lib/dispatcher/socks5-proxy-agent.js'))(...options);
  };
  export const fetch = (...request) => require('undici/lib/web/fetch/index.js').fetch(...request);
`;

/** A plugin of esbuild. Behaviour stays as it is: a package put off is loaded at the first use of any of its exports. */
export function lazyPackages() {
  return {
    name: 'lazy-packages',
    setup(build) {
      build.onResolve({ filter: requiredBuiltins }, ({ path, kind }) =>
        kind === 'import-statement' ? { path, namespace: 'required-builtin' } : undefined,
      );
      build.onLoad({ filter: /./, namespace: 'required-builtin' }, ({ path }) => ({
        contents: `module.exports=require(${JSON.stringify(path)})`,
        loader: 'js',
      }));
      build.onResolve({ filter: /./ }, async ({ path, pluginData, ...from }) => {
        if (pluginData?.asIs) return undefined;
        const isLate = lateLoaded.includes(path) && !isInside(path, from.importer);
        const isPure = withoutSideEffects.some((name) => path === name || isInside(name, from.importer));
        if (!isLate && !isPure && path !== 'undici') return undefined;
        const found = await build.resolve(path, { ...from, pluginData: { asIs: true } });
        if (found.errors.length > 0) return undefined;
        if (path === 'undici') return { path: found.path, namespace: 'undici' };
        return isLate
          ? { path: found.path, namespace: 'late-loaded', sideEffects: false }
          : { ...found, sideEffects: false };
      });
      build.onLoad({ filter: /./, namespace: 'undici' }, ({ path }) => ({
        contents: partsOfUndici,
        loader: 'js',
        resolveDir: dirname(path),
      }));
      build.onLoad({ filter: /./, namespace: 'late-loaded' }, ({ path }) => {
        const exported = createRequire(import.meta.url)(path);
        const names = Object.keys(exported).filter((name) => name !== 'default' && name !== '__esModule');
        const getters = names.map(
          (name) => `Object.defineProperty(exports,${JSON.stringify(name)},{enumerable:true,get:()=>load().${name}});`,
        );
        const contents = `const load=()=>require(${JSON.stringify(path)});\n${getters.join('\n')}`;
        return { contents, loader: 'js', resolveDir: import.meta.dirname };
      });
    },
  };
}

function isInside(name, file) {
  return file.replaceAll('\\', '/').includes(`/node_modules/${name}/`);
}
