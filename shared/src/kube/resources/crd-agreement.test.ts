import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readSpecSchema, type SchemaNode } from '../../testing/index.ts';
import { channelSpecField } from './channel-fields.ts';
import { monitorSpecField } from './decode-monitor.ts';
import type { FieldRule, Member } from './field.ts';

/** The keywords of a schema that decide what is accepted. */
const keywords = [
  'type',
  'minimum',
  'maximum',
  'minLength',
  'maxLength',
  'minItems',
  'maxItems',
  'maxProperties',
  'pattern',
  'enum',
] as const;

/** Lines that say in what the CRD and the decoder differ; none is wanted. */
function differences(schema: SchemaNode, rule: FieldRule, path: string): string[] {
  const own = keywords.flatMap((keyword) => {
    const [a, b] = [JSON.stringify(schema[keyword]), JSON.stringify(rule[keyword])];
    return a === b ? [] : [`${path}: ${keyword} is ${a} in the CRD and ${b} in the decoder`];
  });
  const inner = schema.items ?? schema.additionalProperties;
  if ((inner === undefined) !== (rule.items === undefined)) own.push(`${path}: only one has items`);
  const ofItems = inner && rule.items ? differences(inner, rule.items, `${path}[]`) : [];
  return [...own, ...ofItems, ...ofMembers(schema, rule.members ?? {}, path)];
}

function ofMembers(schema: SchemaNode, members: Readonly<Record<string, Member<unknown>>>, path: string): string[] {
  const names = new Set([...Object.keys(schema.properties ?? {}), ...Object.keys(members)]);
  return [...names].flatMap((name) => {
    const [child, member] = [schema.properties?.[name], members[name]];
    if (!child || !member) return [`${path}.${name}: only in the ${child ? 'CRD' : 'decoder'}`];
    const lines = differences(child, member.field.rule, `${path}.${name}`);
    const [a, b] = [JSON.stringify(child.default), JSON.stringify(member.default)];
    if (a !== b) lines.push(`${path}.${name}: default is ${a} in the CRD and ${b} in the decoder`);
    const isRequired = schema.required?.includes(name) ?? false;
    if (isRequired !== member.required) lines.push(`${path}.${name}: required is ${isRequired} in the CRD`);
    return lines;
  });
}

test('the CRD of CronJobMonitor and its decoder have the same fields, rules and defaults', () => {
  assert.deepEqual(differences(readSpecSchema('cronjobmonitors'), monitorSpecField.rule, 'spec'), []);
});

test('the CRD of AlertChannel and its decoder have the same fields, rules and defaults', () => {
  assert.deepEqual(differences(readSpecSchema('alertchannels'), channelSpecField.rule, 'spec'), []);
});

test('a difference is found: the comparison itself can fail', () => {
  const schema = readSpecSchema('cronjobmonitors');
  const jobFailed = schema.properties?.['jobFailed'];
  assert.ok(jobFailed?.properties?.['failureThreshold']);
  const changed: SchemaNode = {
    ...schema,
    properties: {
      ...schema.properties,
      jobFailed: {
        ...jobFailed,
        properties: {
          ...jobFailed.properties,
          failureThreshold: { ...jobFailed.properties['failureThreshold'], default: 2, maximum: 99 },
          extra: { type: 'string' },
        },
      },
    },
  };
  assert.equal(differences(changed, monitorSpecField.rule, 'spec').length, 3);
});
