import { deflateRawSync, inflateRawSync } from 'node:zlib';

/** Larger ones are not kept: what changed between such runs is not told. Characters, before and after packing. */
const mostCharacters = 256 * 1024;
const mostPackedCharacters = 8 * 1024;

/** What most pod templates say anyway, the commonest last: it is not stored again with each of them. */
const dictionary = Buffer.from(
  '"annotations":{},"labels":{"app.kubernetes.io/instance":"app.kubernetes.io/name":"app.kubernetes.io/component":"' +
    '"affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[{"matchExpressions":[{"key":' +
    '"tolerations":[{"effect":"NoSchedule","key":"operator":"Exists"}],"priorityClassName":"nodeSelector":{"kubernetes.io/os":"linux"}' +
    '"volumes":[{"emptyDir":{},"name":"configMap":{"defaultMode":420,"name":"persistentVolumeClaim":{"claimName":"secret":{"secretName":' +
    '"volumeMounts":[{"mountPath":"/data","name":"data","readOnly":true}],"ttlSecondsAfterFinished":"activeDeadlineSeconds":' +
    '"env":[{"name":"value":"valueFrom":{"secretKeyRef":{"key":"password","name":"configMapKeyRef":{"fieldRef":{"apiVersion":"v1","fieldPath":' +
    '"envFrom":[{"secretRef":{"name":"configMapRef":{"name":"imagePullSecrets":[{"name":"initContainers":[{"command":["/bin/sh","-c","' +
    '"securityContext":{"allowPrivilegeEscalation":false,"capabilities":{"drop":["ALL"]},"readOnlyRootFilesystem":true,"runAsNonRoot":true' +
    '"resources":{"limits":{"cpu":"500m","memory":"256Mi"},"requests":{"cpu":"100m","memory":"128Mi"}},"serviceAccount":"serviceAccountName":"' +
    '{"backoffLimit":3,"template":{"metadata":{"annotations":{},"labels":{}},"spec":{"containers":[{"args":["command":["image":"' +
    '"imagePullPolicy":"IfNotPresent","name":"resources":{},"terminationMessagePath":"/dev/termination-log","terminationMessagePolicy":"File"}],' +
    '"dnsPolicy":"ClusterFirst","restartPolicy":"OnFailure","restartPolicy":"Never","schedulerName":"default-scheduler","securityContext":{},' +
    '"terminationGracePeriodSeconds":30}}}',
);

/** The text of a template in a fifth of its room, one character for a byte; undefined: it is too large to be kept. */
export function packTemplate(text: string): string | undefined {
  if (text.length > mostCharacters) return undefined;
  const packed = deflateRawSync(text.toWellFormed(), { dictionary, level: 9 });
  return packed.length > mostPackedCharacters ? undefined : packed.toString('latin1');
}

/** The text as `packTemplate` took it. Throws the error of zlib for bytes that `packTemplate` did not make. */
export function unpackTemplate(packed: string): string {
  const bytes = Buffer.from(packed, 'latin1');
  return inflateRawSync(bytes, { dictionary, maxOutputLength: 4 * mostCharacters }).toString('utf8');
}

/** Packed templates by hash: Jobs of one template share one. */
export interface TemplatePool {
  /** `textOf` is called for a hash that is not known. */
  packedOf(hash: string, textOf: () => string): string | undefined;
}

/** When so much is held, a new pool begins: templates that are gone must not pile up. */
const mostHeldCharacters = 4 * 1024 * 1024;

export function createTemplatePool(): TemplatePool {
  let pool = new Map<string, string | undefined>();
  let held = 0;
  return {
    packedOf(hash, textOf) {
      if (pool.has(hash)) return pool.get(hash);
      const packed = packTemplate(textOf());
      held += hash.length + (packed?.length ?? 0);
      if (held > mostHeldCharacters) {
        pool = new Map();
        held = 0;
      }
      pool.set(hash, packed);
      return packed;
    },
  };
}
