import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { createHmac } from 'node:crypto';
import { arrayOf } from './fields.ts';
import { objectOf, type RedactionRule } from '../../domain/index.ts';

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

interface TemplateSecrecy {
  /** Of this installation: the same secret has the same hash in two templates, and it cannot be guessed without the key. */
  readonly key: string;
  readonly redact: RedactionRule;
}

/**
 * A Job's spec as it may be stored: literal values of environment variables, and texts in which something looks like a secret, stand
 * there as keyed hashes. So a reader sees that they changed, and never the values. Undefined: this service did not pack the text.
 */
export function toSafeTemplate(packed: string, secrecy: TemplateSecrecy): unknown {
  let spec: unknown;
  try {
    spec = JSON.parse(unpackTemplate(packed));
  } catch {
    return undefined;
  }
  return safe(spec, undefined, secrecy);
}

/** A flag whose value is a secret of its own argument: `--password hunter2`. */
const secretFlag =
  /^-{1,2}[\w.-]*(?:passw(?:or)?d|passphrase|pwd|secret|token|api-?key|access-?key|private-?key|credential)[\w.-]*$/i;

function safe(value: unknown, key: string | undefined, secrecy: TemplateSecrecy): unknown {
  if (typeof value === 'string') return safeText(value, secrecy);
  if (Array.isArray(value)) {
    if (key === 'env') return arrayOf(value).map((variable) => safeVariable(variable, secrecy));
    return key === 'args' || key === 'command'
      ? safeArguments(value, secrecy)
      : value.map((item) => safe(item, undefined, secrecy));
  }
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, safe(member, name, secrecy)]));
}

function safeVariable(variable: unknown, secrecy: TemplateSecrecy): unknown {
  const { value, ...others } = objectOf(variable);
  const rest = safe(others, undefined, secrecy) as object;
  return typeof value === 'string' ? { ...rest, value: hashed(value, secrecy) } : rest;
}

function safeArguments(written: readonly unknown[], secrecy: TemplateSecrecy): unknown[] {
  return written.map((argument, index) => {
    const before = written[index - 1];
    const isSecret = typeof before === 'string' && secretFlag.test(before);
    return isSecret && typeof argument === 'string' ? hashed(argument, secrecy) : safe(argument, undefined, secrecy);
  });
}

/** A text that shows nothing of a secret, and yet differs when the secret does. */
function safeText(text: string, secrecy: TemplateSecrecy): string {
  const redacted = secrecy.redact(text);
  return redacted === text ? text : `${redacted} (${hashed(text, secrecy)})`;
}

function hashed(text: string, { key }: TemplateSecrecy): string {
  return `hash:${createHmac('sha256', key).update(text).digest('hex').slice(0, 16)}`;
}
