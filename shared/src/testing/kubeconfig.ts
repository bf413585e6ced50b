/** What a kubeconfig of one context says; names as in the file itself. */
export interface KubeconfigContent {
  readonly server: string;
  /** PEM. */
  readonly ca?: string;
  readonly cluster?: Readonly<Record<string, unknown>>;
  /** `{ token: 'secret' }` when absent. */
  readonly user?: Readonly<Record<string, unknown>>;
  readonly namespace?: string;
  /** Name of context, cluster and user; `test` when absent. */
  readonly name?: string;
}

/** The text of a kubeconfig: JSON, which is YAML. */
export function kubeconfigText({ server, ca, cluster, user, namespace, name = 'test' }: KubeconfigContent): string {
  const authority = ca === undefined ? {} : { 'certificate-authority-data': Buffer.from(ca).toString('base64') };
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name, cluster: { server, ...authority, ...cluster } }],
    users: [{ name, user: user ?? { token: 'secret' } }],
    contexts: [{ name, context: { cluster: name, user: name, ...(namespace === undefined ? {} : { namespace }) } }],
    'current-context': name,
  });
}
