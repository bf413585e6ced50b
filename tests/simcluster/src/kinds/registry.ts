import { builtInCatalog } from './built-in-catalog.ts';
import { builtInTraits } from './built-in-traits.ts';
import { resourceOf, type Kind, type Subresource } from './kind.ts';

export interface ApiGroup {
  readonly name: string;
  /** Preferred first. */
  readonly versions: readonly string[];
  readonly custom: boolean;
}

const allVerbs = ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch'];

/** Every kind that is served now. Custom kinds come and go with their definitions. */
export class KindRegistry {
  readonly #builtIn: readonly Kind[] = readCatalog();
  #custom: readonly Kind[] = [];
  readonly #byPath = new Map<string, Kind>();

  constructor() {
    this.#index();
  }

  /** Undefined: nothing of that name in that group and version. */
  find(group: string, version: string, plural: string): Kind | undefined {
    return this.#byPath.get(`${group}/${version}/${plural}`);
  }

  /** The kind that owner references and bodies name by apiVersion and kind. */
  findByKind(apiVersion: string, kind: string): Kind | undefined {
    const [group, version] = apiVersion.includes('/') ? apiVersion.split('/') : ['', apiVersion];
    return this.all().find((one) => one.group === group && one.version === version && one.kind === kind);
  }

  /** Throws for a kind that is always there. */
  get(group: string, version: string, plural: string): Kind {
    const kind = this.find(group, version, plural);
    if (kind === undefined) throw new Error(`no kind ${plural} in ${group}/${version}`);
    return kind;
  }

  all(): readonly Kind[] {
    return [...this.#builtIn, ...this.#custom];
  }

  /** Kinds of one group and version in the order of discovery; empty when it is not served. */
  ofVersion(group: string, version: string): readonly Kind[] {
    return this.all().filter((kind) => kind.group === group && kind.version === version);
  }

  /** All groups but the core one, built-in ones first. */
  groups(): ApiGroup[] {
    const groups = new Map<string, { versions: string[]; custom: boolean }>();
    for (const kind of this.all()) {
      if (kind.group === '') continue;
      const group = groups.get(kind.group) ?? { versions: [], custom: kind.custom !== undefined };
      if (!group.versions.includes(kind.version)) group.versions.push(kind.version);
      groups.set(kind.group, group);
    }
    return [...groups].map(([name, group]) => ({ name, ...group }));
  }

  isBuiltIn(group: string): boolean {
    return this.#builtIn.some((kind) => kind.group === group);
  }

  serveCustom(kinds: readonly Kind[]): void {
    this.#custom = kinds;
    this.#index();
  }

  #index(): void {
    this.#byPath.clear();
    for (const kind of this.all()) this.#byPath.set(`${kind.group}/${kind.version}/${kind.plural}`, kind);
  }
}

function readCatalog(): Kind[] {
  const kinds: Kind[] = [];
  let group = '';
  let version = '';
  for (const line of builtInCatalog.split('\n')) {
    if (line === '') continue;
    if (line.includes(' ')) kinds.push(readKind(line, group, version));
    else [group = '', version = ''] = line.split('/');
  }
  return kinds;
}

function readKind(line: string, group: string, version: string): Kind {
  const [plural = '', singular = '', kind = '', scope, ...options] = line.split(' ');
  const option = (name: string): string[] | undefined =>
    options
      .find((one) => one.startsWith(`${name}=`))
      ?.slice(name.length + 1)
      .split(',');
  const id = { group, version, plural };
  const subresources = options.filter((one) => !one.includes('=')).map(readSubresource);
  return {
    ...id,
    singular,
    kind,
    listKind: `${kind}List`,
    namespaced: scope === 'N',
    verbs: option('verbs') ?? allVerbs,
    shortNames: option('short') ?? [],
    categories: option('cat') ?? [],
    subresources,
    storedAs: group === 'events.k8s.io' ? 'events' : resourceOf(id),
    traits: builtInTraits[resourceOf(id)] ?? { hasGeneration: subresources.some((one) => one.name === 'status') },
  };
}

function readSubresource(text: string): Subresource {
  const [name = '', verbs = '', answers] = text.split(':');
  const parts = { name, verbs: verbs.split(',') };
  if (answers === undefined) return parts;
  const [group = '', version = '', kind = ''] = answers.split('/');
  return { ...parts, answers: { group, version, kind } };
}
