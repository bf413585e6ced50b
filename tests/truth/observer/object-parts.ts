import type { RunStory } from './history.ts';

/** Of a Job, and of the template of a CronJob. */
export function jobSpec(ttlSeconds: number | undefined): object {
  return {
    backoffLimit: 0,
    ...(ttlSeconds !== undefined && { ttlSecondsAfterFinished: ttlSeconds }),
    template: { spec: { restartPolicy: 'Never', containers: [{ name: 'main', image: 'job:1' }] } },
  };
}

/** Why its Job failed. */
export function reasonOf({ fate }: RunStory): string {
  return fate === 'deadline' ? 'DeadlineExceeded' : 'BackoffLimitExceeded';
}

/** Who wrote which fields, and when. */
export function managed(at: number, fieldsV1: object, manager = 'kubectl'): object {
  return { manager, operation: 'Update', apiVersion: 'v1', time: iso(at), fieldsType: 'FieldsV1', fieldsV1 };
}

export function podUid({ jobUid }: { readonly jobUid: string }): string {
  return `f${jobUid.slice(1)}`;
}

export function namespaceUid(name: string): string {
  const hex = Buffer.from(name.padEnd(14, '-').slice(-14)).toString('hex');
  return `00${hex.slice(0, 6)}-${hex.slice(6, 10)}-4${hex.slice(10, 13)}-8${hex.slice(13, 16)}-${hex.slice(16, 28)}`;
}

/** As Kubernetes writes instants: whole seconds. */
export function iso(at: number): string {
  return new Date(at).toISOString().replace('.000Z', 'Z');
}
