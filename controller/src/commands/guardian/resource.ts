import { decodeChannelSpec, decodeMonitorSpec } from '@cronjob-monitor/shared/kube';
import { usualDefaults } from '../judge-resources.ts';
import type { SourceDocument } from '../read-documents.ts';
import { convertMonitor } from './monitor.ts';
import { Block, type Remark } from './remark.ts';
import {
  headerProblem,
  isObject,
  type Json,
  messagePlaceholders,
  ownName,
  wrongPlaceholders,
} from '@cronjob-monitor/shared/domain';
import { guardianGroup } from '../resources.ts';

/** One of our resources, made of one of theirs. */
export interface Converted {
  readonly object: Json;
  readonly remarks: readonly Remark[];
}

/** Whether a document is one of cronjob-guardian's resources. */
export function isGuardian({ object }: SourceDocument): boolean {
  return typeof object['apiVersion'] === 'string' && object['apiVersion'].startsWith(guardianGroup);
}

/** Undefined for a kind that has no counterpart. The result is read as the service reads it, and what is wrong with it is told too. */
export function convertResource({ object }: SourceDocument): Converted | undefined {
  const { kind } = object;
  const remarks: Remark[] = [];
  const spec = new Block('spec', object['spec'], remarks);
  const metadata = convertMetadata(object['metadata']);
  const outside = { apiVersion: ownName('v1alpha1'), kind, metadata };
  if (kind === 'CronJobMonitor') {
    const usable = leaveOut({ ...outside, spec: convertMonitor(spec) }, (converted) => {
      const decoded = decodeMonitorSpec(converted, usualDefaults);
      return decoded.ok ? decoded.problems : [{ path: 'spec', message: decoded.undecodable }];
    });
    return { object: usable.object, remarks: [...remarks, ...usable.remarks] };
  }
  if (kind !== 'AlertChannel') return undefined;
  const usable = leaveOut(
    { ...outside, spec: convertChannel(spec) },
    (converted) => decodeChannelSpec(converted).problems,
  );
  return { object: usable.object, remarks: [...remarks, ...usable.remarks] };
}

/** Name, namespace, labels and annotations of a person; nothing that a cluster or a tool wrote. */
function convertMetadata(given: unknown): Json {
  const { name, namespace, labels, annotations } = isObject(given) ? given : {};
  const theirs = isObject(annotations)
    ? Object.fromEntries(Object.entries(annotations).filter(([key]) => !key.startsWith('kubectl.kubernetes.io/')))
    : {};
  return {
    name,
    ...(namespace !== undefined && { namespace }),
    ...(isObject(labels) && { labels }),
    ...(Object.keys(theirs).length > 0 && { annotations: theirs }),
  };
}

interface Problem {
  readonly path: string;
  readonly message: string;
}

/** Each round leaves one field out: no resource has so many that cannot be used. */
const mostRounds = 1_000;

/**
 * The resource without the fields that the service could not use, and what was left out of it. A required field that is not there cannot be
 * left out, and without a part of its selector a monitor would reach more than was meant: both are named as still to do.
 */
function leaveOut(
  object: Json,
  problemsOf: (object: Json) => readonly Problem[],
): { readonly object: Json; readonly remarks: readonly Remark[] } {
  const remarks: Remark[] = [];
  let left = object;
  for (let round = 0; round < mostRounds; round++) {
    const problems = problemsOf(left);
    // The last one first: places in a list before it keep their numbers.
    const next = problems.findLast(
      ({ path }) => path !== 'spec' && !path.startsWith('spec.selector') && valueAt(left, stepsOf(path)) !== undefined,
    );
    if (!next) {
      const rest = problems.map(({ path, message }): Remark => ({ kind: 'to do', path, message }));
      return { object: left, remarks: [...remarks.reverse(), ...rest] };
    }
    remarks.push({ kind: 'left out', path: next.path, message: `cannot be used: ${next.message}` });
    left = without(left, stepsOf(next.path)) as Json; // an object stays one
  }
  return { object: left, remarks };
}

type Step = string | number;

/** `spec.a[0].b`, and `spec.headers[X-Team]`, as steps. */
function stepsOf(path: string): Step[] {
  return [...path.matchAll(/([^.[\]]+)|\[([^\]]*)\]/g)].map(([, name, inside = '']) => {
    if (name !== undefined) return name;
    return /^\d+$/.test(inside) ? Number(inside) : inside.replaceAll('"', '');
  });
}

function valueAt(value: unknown, [step, ...rest]: readonly Step[]): unknown {
  if (step === undefined) return value;
  if (Array.isArray(value)) return valueAt((value as readonly unknown[])[Number(step)], rest);
  return isObject(value) ? valueAt(value[step], rest) : undefined;
}

/** A list or a block that is empty without it goes too. */
function without(value: unknown, [step, ...rest]: readonly Step[]): unknown {
  if (step === undefined) return undefined;
  if (Array.isArray(value)) {
    const kept = (value as readonly unknown[])
      .map((item, index) => (index === step ? without(item, rest) : item))
      .filter((item) => item !== undefined);
    return kept.length === 0 ? undefined : kept;
  }
  if (!isObject(value)) return value;
  const inner = without(value[step], rest);
  const { [step]: _left, ...others } = value;
  const kept = inner === undefined ? others : { ...others, [step]: inner };
  return Object.keys(kept).length === 0 ? undefined : kept;
}

const types: Readonly<Record<string, string>> = {
  slack: 'chat',
  pagerduty: 'paging',
  webhook: 'webhook',
  email: 'email',
};

/** The spec of an AlertChannel in our words. What it cannot say it tells through the block. */
function convertChannel(spec: Block): Json {
  const given = spec.take('type');
  const type = types[String(given)] ?? given;
  if (type !== given) spec.changed('type', `${String(given)} is ${String(type)}`);
  const target = {
    ...nested('chat', convertTarget(spec, 'slack', ['webhookSecretRef', 'defaultChannel'], ['messageTemplate'])),
    ...nested('paging', convertTarget(spec, 'pagerduty', ['routingKeySecretRef', 'severity'], [])),
    ...nested(
      'email',
      convertTarget(spec, 'email', ['smtpSecretRef', 'from', 'to'], ['subjectTemplate', 'bodyTemplate']),
    ),
    ...nested('webhook', convertWebhook(spec)),
  };
  const converted = { type, ...target, ...nested('rateLimiting', convertRates(spec)), ...spec.same('testOnSave') };
  spec.end();
  return withoutBadTemplates(converted, spec);
}

function nested(name: string, value: Json | undefined): Json {
  return value === undefined ? {} : { [name]: value };
}

function convertTarget(
  spec: Block,
  name: string,
  same: readonly string[],
  templates: readonly string[],
): Json | undefined {
  const block = spec.block(name);
  if (!block) return undefined;
  const converted = { ...block.same(...same), ...Object.assign({}, ...templates.map((one) => convertOne(block, one))) };
  block.end();
  return converted;
}

function convertWebhook(spec: Block): Json | undefined {
  const block = spec.block('webhook');
  if (!block) return undefined;
  const headers = Object.entries(block.same('headers')['headers'] ?? {});
  const kept = headers.filter(([name]) => {
    if (headerProblem(name) !== 'reserved') return true;
    block.changed(`headers[${name}]`, 'the service sets this header itself');
    return false;
  });
  const converted = {
    ...block.same('urlSecretRef', 'method'),
    ...(kept.length > 0 && { headers: Object.fromEntries(kept) }),
    ...convertOne(block, 'payloadTemplate'),
  };
  block.end();
  return converted;
}

function convertOne(block: Block, name: string): Json {
  const text = block.take(name);
  if (typeof text !== 'string') return {};
  const result = convertTemplate(text);
  if ('refused' in result) {
    block.leftOut(name, `${result.refused}; the built-in text is sent`);
    return {};
  }
  for (const change of result.changed) block.changed(name, change);
  return { [name]: result.text };
}

function convertRates(spec: Block): Json | undefined {
  const block = spec.block('rateLimiting');
  if (!block) return undefined;
  const { maxPerHour, burstSize } = block.same('maxPerHour', 'burstSize');
  const converted = {
    ...(maxPerHour !== undefined && { maxAlertsPerHour: maxPerHour }),
    ...(burstSize !== undefined && { burstLimit: burstSize }),
    ...block.same('maxAlertsPerHour', 'burstLimit'),
  };
  if (maxPerHour !== undefined)
    block.changed('maxPerHour', 'taken as maxAlertsPerHour; cronjob-guardian has no such field, and drops it');
  if (burstSize !== undefined)
    block.changed('burstSize', 'taken as burstLimit; cronjob-guardian has no such field, and drops it');
  if (converted.burstLimit !== undefined) block.changed('burstLimit', 'a burst at once, no longer messages a minute');
  block.end();
  return converted;
}

/** What a template may hold depends on where it stands: the service's own reader decides. */
function withoutBadTemplates(converted: Json, spec: Block): Json {
  const bad = decodeChannelSpec({ spec: converted }).problems.filter(({ path }) => path.endsWith('Template'));
  return bad.reduce<Json>((rest, { path, message }) => {
    const [, block = '', field = ''] = path.split('.');
    const { [field]: _left, ...others } = rest[block] as Json; // a template was read in it
    spec.leftOut(path.slice('spec.'.length), `${message}; the built-in text is sent`);
    return { ...rest, [block]: others };
  }, converted);
}

/** Names of cronjob-guardian's templates and ours; of the same meaning. */
const names: Readonly<Record<string, string>> = {
  Title: 'Alert.Title',
  Message: 'Alert.Message',
  Severity: 'Alert.Severity',
  AlertType: 'Alert.Type',
  Type: 'Alert.Type',
  CronJobName: 'CronJob.Name',
  CronJobNamespace: 'CronJob.Namespace',
  Timestamp: 'Alert.Since',
  SuggestedFix: 'Context.SuggestedFix',
  Logs: 'Context.Logs',
  Events: 'Context.Events',
  MonitorName: 'Monitor.Name',
  MonitorNamespace: 'Monitor.Namespace',
};

/** A template in our words; undefined with the reason when it does more than fill in values. */
function convertTemplate(
  text: string,
): { readonly text: string; readonly changed: readonly string[] } | { readonly refused: string } {
  const changed = new Set<string>();
  // A condition around a value that may be empty: ours fill in nothing, so that its body can stand alone.
  const flat = text.replaceAll(
    /\{\{-?\s*if\s+(\.[\w.]+)\s*-?\}\}([^{]*(?:\{\{[^}]*\}\}[^{]*)*?)\{\{-?\s*end\s*-?\}\}/g,
    (whole: string, _name, body: string) => {
      if (/\{\{-?\s*(else|range|if|with)\b/.test(body)) return whole;
      changed.add('conditions are gone: an absent value is empty text');
      return body;
    },
  );
  const converted = flat.replaceAll(
    /\{\{-?\s*\.([\w.]+)\s*((?:\|\s*\w+\s*)*)-?\}\}/g,
    (_whole, name: string, pipes: string) => {
      if (pipes.trim() !== '') changed.add(`functions are gone: ${pipes.trim()}`);
      return `{{ .${names[name] ?? name} }}`;
    },
  );
  const foreign = wrongPlaceholders(converted, messagePlaceholders);
  if (foreign.length > 0) return { refused: `it needs ${foreign.join(', ')}, and templates here only fill in values` };
  return { text: converted, changed: [...changed] };
}
