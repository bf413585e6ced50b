import { forbiddenError, statusError } from '../http/api-error.ts';
import type { User } from '../http/api-request.ts';
import { fieldsOf, listOf, textOf, type Fields } from '../json.ts';
import type { KubeObject } from '../storage/kube-object.ts';
import type { ObjectStore } from '../storage/object-store.ts';

/** What a caller wants to do: to a resource, or to a path that is none. */
export type Deed = ResourceDeed | PathDeed;

interface ResourceDeed {
  readonly verb: string;
  readonly group: string;
  readonly resource: string;
  readonly subresource?: string | undefined;
  readonly namespace?: string | undefined;
  readonly name?: string | undefined;
}

interface PathDeed {
  readonly verb: string;
  readonly path: string;
}

interface AccessVerdict {
  readonly allowed: boolean;
  /** The binding that allows it, in the words of the real server; absent for the all-powerful. */
  readonly reason?: string;
}

/** An access decision from outside the cluster's roles; undefined leaves it to them. */
export type AccessRule = (user: User, deed: Deed) => boolean | undefined;

interface Rule {
  readonly verbs: readonly string[];
  readonly apiGroups?: readonly string[];
  readonly resources?: readonly string[];
  readonly resourceNames?: readonly string[];
  readonly nonResourceURLs?: readonly string[];
}

const publicPaths = ['/healthz', '/livez', '/readyz', '/version', '/version/'];
const discoveryPaths = [
  '/api',
  '/api/*',
  '/apis',
  '/apis/*',
  '/healthz',
  '/livez',
  '/openapi',
  '/openapi/*',
  '/readyz',
  '/version',
  '/version/',
];

/** What every user may do, with the groups that may. */
const generalRules: readonly { readonly group: string; readonly rules: readonly Rule[] }[] = [
  {
    group: 'system:authenticated',
    rules: [
      {
        verbs: ['create'],
        apiGroups: ['authorization.k8s.io'],
        resources: ['selfsubjectaccessreviews', 'selfsubjectrulesreviews'],
      },
      { verbs: ['create'], apiGroups: ['authentication.k8s.io'], resources: ['selfsubjectreviews'] },
      { verbs: ['get'], nonResourceURLs: publicPaths },
      { verbs: ['get'], nonResourceURLs: discoveryPaths },
    ],
  },
  { group: 'system:unauthenticated', rules: [{ verbs: ['get'], nonResourceURLs: publicPaths }] },
];

const rbacGroup = 'rbac.authorization.k8s.io';

/** Decides by roles and bindings as they are stored, and by what every user may do. */
export class Authorizer {
  readonly #store: ObjectStore;
  readonly #rules: AccessRule[] = [];

  constructor(store: ObjectStore) {
    this.#store = store;
  }

  /** Asked before all roles, the last one added first. Returns the way out. */
  addRule(rule: AccessRule): () => void {
    this.#rules.unshift(rule);
    return () => {
      this.#rules.splice(this.#rules.indexOf(rule), 1);
    };
  }

  decide(user: User, deed: Deed): AccessVerdict {
    for (const rule of this.#rules) {
      const allowed = rule(user, deed);
      if (allowed !== undefined) return { allowed };
    }
    if (user.groups.includes('system:masters')) return { allowed: true };
    for (const { group, rules } of generalRules) {
      if (user.groups.includes(group) && rules.some((rule) => permits(rule, deed))) return { allowed: true };
    }
    return this.#byBinding(user, deed, `clusterrolebindings.${rbacGroup}`, undefined) ?? this.#inNamespace(user, deed);
  }

  /** Throws a 403 that says what may not be done. */
  check(user: User, deed: Deed): void {
    if (!this.decide(user, deed).allowed) throw refusal(user, deed);
  }

  /** All rules that hold for a user in a namespace. */
  rulesFor(user: User, namespace: string): Rule[] {
    const general = generalRules.filter(({ group }) => user.groups.includes(group)).flatMap(({ rules }) => rules);
    const bound = [
      ...this.#store.table(`clusterrolebindings.${rbacGroup}`).objects(),
      ...this.#store.table(`rolebindings.${rbacGroup}`).objects(namespace),
    ]
      .filter((binding) => subjectOf(binding, user) !== undefined)
      .flatMap((binding) => this.#rulesOf(binding));
    return [...general, ...bound];
  }

  #inNamespace(user: User, deed: Deed): AccessVerdict {
    const denied: AccessVerdict = { allowed: false };
    if ('path' in deed || deed.namespace === undefined || deed.namespace === '') return denied;
    return this.#byBinding(user, deed, `rolebindings.${rbacGroup}`, deed.namespace) ?? denied;
  }

  #byBinding(user: User, deed: Deed, resource: string, namespace: string | undefined): AccessVerdict | undefined {
    for (const binding of this.#store.table(resource).objects(namespace)) {
      const subject = subjectOf(binding, user);
      if (subject === undefined || !this.#rulesOf(binding).some((rule) => permits(rule, deed))) continue;
      return { allowed: true, reason: reasonOf(binding, subject) };
    }
    return undefined;
  }

  #rulesOf(binding: KubeObject): Rule[] {
    const role = fieldsOf(binding['roleRef']);
    const name = textOf(role['name']);
    const found =
      role['kind'] === 'Role'
        ? this.#store.get(`roles.${rbacGroup}`, binding.metadata.namespace, name)
        : this.#store.get(`clusterroles.${rbacGroup}`, undefined, name);
    // Decoded roles have exactly these fields.
    return listOf(found?.['rules']) as Rule[];
  }
}

function subjectOf(binding: KubeObject, user: User): Fields | undefined {
  return listOf(binding['subjects'])
    .map(fieldsOf)
    .find((subject) => {
      const name = textOf(subject['name']);
      if (subject['kind'] === 'User') return name === user.name;
      if (subject['kind'] === 'Group') return user.groups.includes(name);
      const namespace = textOf(subject['namespace']) || (binding.metadata.namespace ?? '');
      return user.name === `system:serviceaccount:${namespace}:${name}`;
    });
}

function reasonOf(binding: KubeObject, subject: Fields): string {
  const { name, namespace } = binding.metadata;
  const role = fieldsOf(binding['roleRef']);
  const bindingText =
    namespace === undefined
      ? `ClusterRoleBinding ${JSON.stringify(name)}`
      : `RoleBinding ${JSON.stringify(`${name}/${namespace}`)}`;
  const subjectName = textOf(subject['name']);
  const subjectText =
    subject['kind'] === 'ServiceAccount'
      ? `${subjectName}/${textOf(subject['namespace']) || (namespace ?? '')}`
      : subjectName;
  return `RBAC: allowed by ${bindingText} of ${textOf(role['kind'])} ${JSON.stringify(textOf(role['name']))} to ${textOf(subject['kind'])} ${JSON.stringify(subjectText)}`;
}

function permits(rule: Rule, deed: Deed): boolean {
  const has = (list: readonly string[] | undefined, value: string): boolean =>
    list?.some((one) => one === '*' || one === value) ?? false;
  if (!has(rule.verbs, deed.verb)) return false;
  if ('path' in deed) {
    return (rule.nonResourceURLs ?? []).some(
      (path) => path === deed.path || (path.endsWith('*') && deed.path.startsWith(path.slice(0, -1))),
    );
  }
  const resource = resourceText(deed);
  const named = rule.resourceNames ?? [];
  const nameFits = named.length === 0 || (deed.name !== undefined && named.includes(deed.name));
  const subresourceOfAny = deed.subresource === undefined ? undefined : `*/${deed.subresource}`;
  const resourceFits =
    has(rule.resources, resource) ||
    (subresourceOfAny !== undefined && (rule.resources ?? []).includes(subresourceOfAny));
  return has(rule.apiGroups, deed.group) && resourceFits && nameFits;
}

function resourceText(deed: ResourceDeed): string {
  return deed.subresource === undefined || deed.subresource === ''
    ? deed.resource
    : `${deed.resource}/${deed.subresource}`;
}

function refusal(user: User, deed: Deed): Error {
  const who = `User ${JSON.stringify(user.name)} cannot ${deed.verb}`;
  if ('path' in deed) {
    const message = `forbidden: ${who} path ${JSON.stringify(deed.path)}`;
    return statusError({ code: 403, reason: 'Forbidden', message, details: {} });
  }
  const place =
    deed.namespace === undefined || deed.namespace === ''
      ? 'at the cluster scope'
      : `in the namespace ${JSON.stringify(deed.namespace)}`;
  const detail = `${who} resource ${JSON.stringify(resourceText(deed))} in API group ${JSON.stringify(deed.group)} ${place}`;
  // A name that a creation brings along is not looked at.
  const name = deed.verb === 'create' ? '' : (deed.name ?? '');
  return forbiddenError({ group: deed.group, kind: deed.resource }, name, detail);
}
