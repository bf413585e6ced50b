import { createHash } from 'node:crypto';
import type { Fields } from '../json.ts';
import { apiVersionOf, type Kind } from '../kinds/kind.ts';
import type { ApiGroup, KindRegistry } from '../kinds/registry.ts';
import { rootPaths } from './root-paths.ts';

const serverVersion = {
  major: '1',
  minor: '35',
  emulationMajor: '1',
  emulationMinor: '35',
  minCompatibilityMajor: '1',
  minCompatibilityMinor: '34',
  gitVersion: 'v1.35.4',
  gitCommit: 'simulated',
  gitTreeState: '',
  buildDate: '1970-01-01T00:00:00Z',
  goVersion: 'go1.26.8',
  compiler: 'gc',
  platform: 'linux/amd64',
};

const aggregatedType = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';

interface Page {
  readonly body: unknown;
  readonly contentType: string;
}

/** The pages that tell what is served; undefined when the path is none of them. */
export function discoveryPage(path: string, accept: string, registry: KindRegistry): Page | undefined {
  const json = (body: unknown): Page => ({ body, contentType: 'application/json' });
  const aggregated = /g=apidiscovery\.k8s\.io/.test(accept) && /v=v2(?![a-z0-9])/.test(accept);
  if (path === '/') return json({ paths: rootPaths(registry) });
  if (path === '/version') return json(serverVersion);
  if (path === '/api' || path === '/api/') {
    if (aggregated)
      return {
        body: aggregatedList([{ name: '', versions: ['v1'], custom: false }], registry),
        contentType: aggregatedType,
      };
    return json({
      kind: 'APIVersions',
      versions: ['v1'],
      serverAddressByClientCIDRs: [{ clientCIDR: '0.0.0.0/0', serverAddress: '127.0.0.1:6443' }],
    });
  }
  if (path === '/apis' || path === '/apis/') {
    if (aggregated) return { body: aggregatedList(registry.groups(), registry), contentType: aggregatedType };
    return json({ kind: 'APIGroupList', apiVersion: 'v1', groups: registry.groups().map(presentGroup) });
  }
  const parts = path.replace(/\/$/, '').split('/').slice(1);
  if (parts[0] === 'api' && parts[1] === 'v1' && parts.length === 2) return json(resourceList('', 'v1', registry));
  if (parts[0] !== 'apis') return undefined;
  const group = registry.groups().find((one) => one.name === parts[1]);
  if (group === undefined) return undefined;
  if (parts.length === 2) return json({ kind: 'APIGroup', apiVersion: 'v1', ...presentGroup(group) });
  const version = parts[2] ?? '';
  if (parts.length !== 3 || !group.versions.includes(version)) return undefined;
  return json(resourceList(group.name, version, registry));
}

function presentGroup(group: ApiGroup): Fields {
  const versions = group.versions.map((version) => ({ groupVersion: `${group.name}/${version}`, version }));
  return { name: group.name, versions, preferredVersion: versions[0] };
}

function resourceList(group: string, version: string, registry: KindRegistry): Fields {
  return {
    kind: 'APIResourceList',
    // The core group alone leaves its own version out.
    ...(group === '' ? {} : { apiVersion: 'v1' }),
    groupVersion: apiVersionOf({ group, version }),
    resources: registry.ofVersion(group, version).flatMap(presentResource),
  };
}

function presentResource(kind: Kind): Fields[] {
  const stored = kind.verbs.includes('watch') && kind.group !== 'events.k8s.io';
  const main: Fields = {
    name: kind.plural,
    singularName: kind.singular,
    namespaced: kind.namespaced,
    kind: kind.kind,
    verbs: kind.verbs,
    ...(kind.shortNames.length === 0 ? {} : { shortNames: kind.shortNames }),
    ...(kind.categories.length === 0 ? {} : { categories: kind.categories }),
    ...(stored ? { storageVersionHash: storageHash(kind) } : {}),
  };
  const others = kind.subresources.map((subresource): Fields => {
    const answers = subresource.answers;
    return {
      name: `${kind.plural}/${subresource.name}`,
      singularName: '',
      namespaced: kind.namespaced,
      ...(answers === undefined || answers.version === '' ? {} : { group: answers.group, version: answers.version }),
      kind: answers?.kind ?? kind.kind,
      verbs: subresource.verbs,
    };
  });
  return [main, ...others];
}

function storageHash(kind: Kind): string {
  const text = `${kind.group}/${kind.version}/${kind.kind}`;
  return createHash('sha256').update(text).digest().subarray(0, 8).toString('base64');
}

function aggregatedList(groups: readonly ApiGroup[], registry: KindRegistry): Fields {
  return {
    kind: 'APIGroupDiscoveryList',
    apiVersion: 'apidiscovery.k8s.io/v2',
    metadata: {},
    items: groups.map((group) => ({
      metadata: group.name === '' ? {} : { name: group.name },
      versions: group.versions.map((version) => ({
        version,
        resources: registry.ofVersion(group.name, version).map(presentAggregated),
        freshness: 'Current',
      })),
    })),
  };
}

function presentAggregated(kind: Kind): Fields {
  const none = { group: '', version: '' };
  const answers = kind.custom === undefined ? none : { group: kind.group, version: kind.version };
  return {
    resource: kind.plural,
    responseKind: { ...answers, kind: kind.kind },
    scope: kind.namespaced ? 'Namespaced' : 'Cluster',
    singularResource: kind.singular,
    verbs: kind.verbs,
    ...(kind.shortNames.length === 0 ? {} : { shortNames: kind.shortNames }),
    ...(kind.categories.length === 0 ? {} : { categories: kind.categories }),
    ...(kind.subresources.length === 0
      ? {}
      : {
          subresources: kind.subresources.map((subresource) => ({
            subresource: subresource.name,
            responseKind: subresource.answers ?? { ...answers, kind: kind.kind },
            verbs: subresource.verbs,
          })),
        }),
  };
}
