import type { Ability } from '@cronjob-monitor/shared/contract';
import type { AccessQuestion } from '@cronjob-monitor/shared/kube';

/** The SubjectAccessReview behind each ability (security.md section 7). */
type Permission =
  | {
      /** `namespace`: in the namespace of what is acted upon. `cluster`: the resource has none. */
      readonly scope: 'namespace' | 'cluster';
      readonly verb: string;
      readonly group: string;
      readonly resource: string;
      readonly subresource?: string;
    }
  /** On the path itself, a non-resource URL; `path` stands for it where no request names one. */
  | { readonly scope: 'path'; readonly verb: string; readonly path: string }
  /** Every caller that is known. */
  | { readonly scope: 'known' };

const cronJobs = { group: 'batch', resource: 'cronjobs' } as const;
const monitors = { group: 'cronjob-monitor.io', resource: 'cronjobmonitors' } as const;
const channels = { group: 'cronjob-monitor.io', resource: 'alertchannels' } as const;

const permissions: Readonly<Record<Ability, Permission>> = {
  read: { scope: 'namespace', verb: 'list', ...cronJobs },
  readLogs: { scope: 'namespace', verb: 'get', group: '', resource: 'pods', subresource: 'log' },
  readMonitors: { scope: 'namespace', verb: 'list', ...monitors },
  preview: { scope: 'namespace', verb: 'create', ...monitors },
  readChannels: { scope: 'cluster', verb: 'list', ...channels },
  testPattern: { scope: 'known' },
  trigger: { scope: 'namespace', verb: 'create', group: 'batch', resource: 'jobs' },
  suspend: { scope: 'namespace', verb: 'patch', ...cronJobs },
  deleteHistory: { scope: 'namespace', verb: 'delete', ...cronJobs },
  acknowledge: { scope: 'namespace', verb: 'update', ...monitors },
  silence: { scope: 'namespace', verb: 'update', ...monitors },
  testChannel: { scope: 'cluster', verb: 'update', ...channels },
  redrive: { scope: 'cluster', verb: 'update', ...channels },
  readConfig: { scope: 'path', verb: 'get', path: '/api/v1/config' },
  prune: { scope: 'path', verb: 'post', path: '/api/v1/admin/prune' },
};

/** Where something is to be done. `namespace` absent: everywhere. */
export interface Place {
  readonly namespace?: string | undefined;
  /** Of the request; asked about by abilities on paths. */
  readonly path?: string | undefined;
}

/** The question for an ability at a place; undefined when nothing has to be asked. */
export function questionOf(ability: Ability, { namespace, path }: Place): AccessQuestion | undefined {
  const permission = permissions[ability];
  if (permission.scope === 'known') return undefined;
  if (permission.scope === 'path') return { verb: permission.verb, path: path ?? permission.path };
  const { scope, verb, group, resource, subresource } = permission;
  return { verb, group, resource, subresource, namespace: scope === 'namespace' ? namespace : undefined };
}

/** The question before rows of another cluster are shown. No such resource exists: a ClusterRole may name it all the same. */
export function rightToReadCluster(name: string) {
  return { verb: 'get', group: 'cronjob-monitor.io', resource: 'clusters', name } as const satisfies AccessQuestion;
}

/** Whether the ability can be granted in one namespace and not in another. */
export function isNamespaced(ability: Ability): boolean {
  return permissions[ability].scope === 'namespace';
}

/** The words of a refusal: what is missing, and where. */
export function missingRight(question: AccessQuestion): {
  readonly verb: string;
  readonly resource: string;
  readonly namespace: string | undefined;
} {
  if ('path' in question) return { verb: question.verb, resource: question.path, namespace: undefined };
  const { verb, resource, subresource, namespace } = question;
  return { verb, resource: subresource === undefined ? resource : `${resource}/${subresource}`, namespace };
}
