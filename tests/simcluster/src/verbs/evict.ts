import { notFound, statusError } from '../http/api-error.ts';
import type { Answer, ApiRequest } from '../http/api-request.ts';
import { at, fieldsOf, textsOf } from '../json.ts';
import type { KubeObject } from '../storage/kube-object.ts';
import type { VerbDeps } from './verb-deps.ts';

/** POST of pods/eviction: deletes the pod unless a disruption budget forbids it. */
export function evictPod(request: ApiRequest, deps: VerbDeps): Answer {
  const { namespace, name = '' } = request;
  const pod = deps.store.get('pods', namespace, name);
  if (pod === undefined) throw notFound({ group: '', kind: 'pods' }, name);
  for (const budget of deps.store.table('poddisruptionbudgets.policy').objects(namespace)) {
    if (selects(budget, pod)) checkBudget(budget);
  }
  deps.writer.remove(request.kind, pod);
  return { code: 201, body: { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', code: 201 } };
}

function selects(budget: KubeObject, pod: KubeObject): boolean {
  const wanted = Object.entries(textsOf(at(budget, 'spec', 'selector', 'matchLabels')));
  return wanted.length > 0 && wanted.every(([key, value]) => pod.metadata.labels?.[key] === value);
}

function checkBudget(budget: KubeObject): void {
  const status = fieldsOf(budget.status);
  const { name } = budget.metadata;
  const pending = Number(status['observedGeneration'] ?? 0) < (budget.metadata.generation ?? 1);
  if (!pending && Number(status['disruptionsAllowed'] ?? 0) > 0) return;
  const message = pending
    ? `The disruption budget ${name} is still being processed by the server.`
    : `The disruption budget ${name} needs ${String(status['desiredHealthy'])} healthy pods and has ${String(status['currentHealthy'])} currently`;
  const causes = [{ reason: 'DisruptionBudget', message }];
  throw statusError(
    {
      code: 429,
      reason: 'TooManyRequests',
      message: "Cannot evict pod as it would violate the pod's disruption budget.",
      details: pending ? { causes, retryAfterSeconds: 10 } : { causes },
    },
    pending ? { 'retry-after': '10' } : {},
  );
}
