import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createCluster, type Cluster } from '@cronjob-monitor/shared/kube';
import { systemClock } from '@cronjob-monitor/shared/process';
import { kubeconfigText, RecordingLogger } from '@cronjob-monitor/shared/testing';
import type { RealCluster } from '../realcluster/real-cluster.ts';
import { namespace, ofKind, theOne, type Rendered } from './render.ts';

const rbac = '/apis/rbac.authorization.k8s.io/v1';

/** Makes the accounts and rights that the chart rendered; others of an earlier set of values are taken away before. */
export async function grant(cluster: RealCluster, objects: readonly Rendered[]): Promise<void> {
  for (const kind of ['Role', 'RoleBinding', 'ClusterRole', 'ClusterRoleBinding'])
    for (const object of await listOurs(cluster, kind)) await cluster.request('DELETE', rightsPath(kind, object));
  for (const { kind, metadata, ...fields } of objects) {
    if (!/^(Cluster)?Role(Binding)?$/.test(kind)) continue;
    await made(cluster, rightsPath(kind, { metadata: { ...metadata, name: '' } }), { kind, metadata, ...fields });
  }
  const accounts = `/api/v1/namespaces/${namespace}/serviceaccounts`;
  for (const { metadata } of ofKind(objects, 'ServiceAccount'))
    await made(cluster, accounts, { metadata: { name: metadata.name } });
}

async function listOurs(cluster: RealCluster, kind: string): Promise<{ metadata: Rendered['metadata'] }[]> {
  const query = '?labelSelector=app.kubernetes.io%2Fname%3Dcronjob-monitor';
  return (await cluster.request('GET', `${rbac}/${kind.toLowerCase()}s${query}`)).body.items;
}

function rightsPath(kind: string, { metadata }: { metadata: Rendered['metadata'] }): string {
  const within = metadata.namespace === undefined ? rbac : `${rbac}/namespaces/${metadata.namespace}`;
  return `${within}/${kind.toLowerCase()}s${metadata.name === '' ? '' : `/${metadata.name}`}`;
}

/** Whatever is there already stays. */
async function made(cluster: RealCluster, path: string, body: object): Promise<void> {
  const answer = await cluster.request('POST', path, { body });
  if (answer.status >= 300 && answer.status !== 409) throw new Error(`${path}: ${JSON.stringify(answer.body)}`);
}

/** A kubeconfig with a token of the account that a component's pods have; the namespace is that of the installation. */
export async function kubeconfigOf(
  cluster: RealCluster,
  objects: readonly Rendered[],
  component: string,
): Promise<string> {
  const deployment = ofKind(objects, 'Deployment').find(
    (one) => one['spec'].template.metadata.labels['app.kubernetes.io/component'] === component,
  );
  if (!deployment) throw new Error(`no Deployment of ${component}`);
  const account = String(deployment['spec'].template.spec.serviceAccountName);
  theOne(objects, 'ServiceAccount', account);
  const path = `/api/v1/namespaces/${namespace}/serviceaccounts/${account}/token`;
  const { body } = await cluster.request('POST', path, { body: { spec: { expirationSeconds: 3600 } } });
  const file = join(mkdtempSync(join(tmpdir(), 'cronjob-monitor-account-')), 'kubeconfig');
  const user = { token: String(body.status.token) };
  writeFileSync(file, kubeconfigText({ server: cluster.url, ca: cluster.ca, user, namespace }), { mode: 0o600 });
  return file;
}

/** The product's own client, as the account of a component. */
export function clientOf(kubeconfig: string): Cluster {
  const limits = { requestsPerSecond: 1000, burst: 1000 };
  return createCluster({ kubeconfig, clock: systemClock, logger: new RecordingLogger(), ...limits });
}
