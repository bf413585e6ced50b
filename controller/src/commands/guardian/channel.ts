import { decodeChannelSpec } from '@cronjob-monitor/shared/kube';
import { messagePlaceholders, parseTemplate, unknownPlaceholders, type Json } from '@cronjob-monitor/shared/domain';
import type { Block } from './remark.ts';

const types: Readonly<Record<string, string>> = {
  slack: 'chat',
  pagerduty: 'paging',
  webhook: 'webhook',
  email: 'email',
};

/** The spec of an AlertChannel in our words. What it cannot say it tells through the block. */
export function convertChannel(spec: Block): Json {
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
    if (!/^(host|connection|transfer-encoding|content-(length|encoding)|webhook-.*)$/i.test(name)) return true;
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
  const parsed = parseTemplate(converted);
  const foreign = [
    ...parsed.malformed,
    ...unknownPlaceholders(parsed, messagePlaceholders).map((name) => `{{ .${name} }}`),
  ];
  if (foreign.length > 0) return { refused: `it needs ${foreign.join(', ')}, and templates here only fill in values` };
  return { text: converted, changed: [...changed] };
}
