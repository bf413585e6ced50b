// What a process never asks for costs it neither time nor memory: large packages behind the Kubernetes client are left out or put off.
import { createRequire } from 'node:module';

/** Its parts do nothing when they are loaded: what nobody names is left out. */
const withoutSideEffects = ['@kubernetes/client-node'];

/** Imported at the top of the Kubernetes client, for proxies and for sign-in by OpenID, which few kubeconfigs ask for. */
const lateLoaded = ['socks-proxy-agent', 'socks', 'hpagent', 'openid-client'];

/** A plugin of esbuild. Behaviour stays as it is: a package put off is loaded at the first use of any of its exports. */
export function lazyPackages() {
  return {
    name: 'lazy-packages',
    setup(build) {
      build.onResolve({ filter: /./ }, async ({ path, pluginData, ...from }) => {
        if (pluginData?.asIs) return undefined;
        const isLate = lateLoaded.includes(path) && !isInside(path, from.importer);
        const isPure = withoutSideEffects.some((name) => path === name || isInside(name, from.importer));
        if (!isLate && !isPure) return undefined;
        const found = await build.resolve(path, { ...from, pluginData: { asIs: true } });
        if (found.errors.length > 0) return undefined;
        return isLate
          ? { path: found.path, namespace: 'late-loaded', sideEffects: false }
          : { ...found, sideEffects: false };
      });
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
