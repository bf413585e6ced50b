import assert from 'node:assert/strict';
import { test } from 'node:test';
import { wholeChannelSpecs } from '../../testing/index.ts';
import { neededSecrets } from '../../domain/index.ts';
import { decodeChannelSpec } from './decode-channel.ts';

const { chat, email, paging, webhook } = wholeChannelSpecs;

for (const [type, spec] of Object.entries(wholeChannelSpecs)) {
  test(`a ${type} channel is kept as it was written`, () => {
    assert.deepEqual(decodeChannelSpec({ spec }), { type, spec, problems: [] });
  });
}

test('what is left out gets its default', () => {
  const { spec, problems } = decodeChannelSpec({
    spec: { type: 'webhook', webhook: { urlSecretRef: webhook.webhook.urlSecretRef } },
  });
  assert.deepEqual(problems, []);
  assert.ok(spec?.type === 'webhook');
  assert.deepEqual([spec.webhook.method, spec.webhook.headers], ['POST', {}]);
  assert.deepEqual(spec.rateLimiting, { maxAlertsPerHour: 100, burstLimit: 10 });
  assert.deepEqual([spec.sendResolved, spec.testOnSave], [true, false]);
});

for (const { says, spec, path, reason } of [
  { says: 'a block that is missing', spec: { ...chat, chat: undefined }, path: 'spec', reason: 'InvalidField' },
  { says: 'a block of another type', spec: { ...chat, paging: paging.paging }, path: 'spec', reason: 'InvalidField' },
  { says: 'a spec that is missing', spec: undefined, path: 'spec', reason: 'InvalidField' },
  { says: 'an unknown type', spec: { type: 'pigeon' }, path: 'spec.type', reason: 'InvalidField' },
  {
    says: 'a reference without its key',
    spec: { ...chat, chat: { webhookSecretRef: { name: 'a', namespace: 'b' } } },
    path: 'spec.chat.webhookSecretRef.key',
    reason: 'InvalidField',
  },
  {
    says: 'a drill each hour',
    spec: { ...chat, drill: { schedule: '0 * * * *' } },
    path: 'spec.drill.schedule',
    reason: 'InvalidField',
  },
  {
    says: 'a drill at two minutes of an hour',
    spec: { ...chat, drill: { schedule: '0,30 9 * * *' } },
    path: 'spec.drill.schedule',
    reason: 'InvalidField',
  },
  {
    says: 'a drill on a day that never comes',
    spec: { ...chat, drill: { schedule: '0 9 31 2 *' } },
    path: 'spec.drill.schedule',
    reason: 'InvalidSchedule',
  },
  {
    says: 'a drill in a zone that there is not',
    spec: { ...chat, drill: { schedule: '0 9 * * 1', timezone: 'Europe/Nowhere' } },
    path: 'spec.drill.timezone',
    reason: 'InvalidTimeZone',
  },
  {
    says: 'a drill that may be acknowledged for longer than a week',
    spec: { ...chat, drill: { schedule: '0 9 * * 1', ackWithin: '8d' } },
    path: 'spec.drill.ackWithin',
    reason: 'InvalidField',
  },
  {
    says: 'an unknown placeholder',
    spec: { ...chat, chat: { ...chat.chat, messageTemplate: '{{ .Nope }}' } },
    path: 'spec.chat.messageTemplate',
    reason: 'InvalidPattern',
  },
  {
    says: 'a block in a template',
    spec: { ...chat, chat: { ...chat.chat, messageTemplate: '{{ if .Name }}x{{ end }}' } },
    path: 'spec.chat.messageTemplate',
    reason: 'InvalidPattern',
  },
  {
    says: 'a payload that is no JSON',
    spec: { ...webhook, webhook: { ...webhook.webhook, payloadTemplate: '{"a": {{ .Name }}}' } },
    path: 'spec.webhook.payloadTemplate',
    reason: 'InvalidPattern',
  },
  {
    says: 'a chat that is not known',
    spec: { ...chat, chat: { ...chat.chat, format: 'irc' } },
    path: 'spec.chat.format',
    reason: 'InvalidField',
  },
  {
    says: 'telegram without the id of a chat',
    spec: { ...chat, chat: { webhookSecretRef: chat.chat.webhookSecretRef, format: 'telegram' } },
    path: 'spec.chat',
    reason: 'InvalidField',
  },
  ...(['payloadTemplate', 'signingSecretRef', 'method'] as const).map((field) => ({
    says: `an Alertmanager with ${field}`,
    spec: {
      ...webhook,
      webhook: {
        urlSecretRef: webhook.webhook.urlSecretRef,
        format: 'alertmanager',
        [field]: webhook.webhook[field],
      },
    },
    path: 'spec.webhook',
    reason: 'InvalidField',
  })),
  {
    says: 'a subject of two lines',
    spec: { ...email, email: { ...email.email, subjectTemplate: 'a\r\nBcc: b' } },
    path: 'spec.email.subjectTemplate',
    reason: 'InvalidField',
  },
  {
    says: 'an address with a display name',
    spec: { ...email, email: { ...email.email, from: 'Ops <ops@example.org>' } },
    path: 'spec.email.from',
    reason: 'InvalidField',
  },
  {
    says: 'an address with a line break',
    spec: { ...email, email: { ...email.email, to: ['a@b.c\r\nx'] } },
    path: 'spec.email.to[0]',
    reason: 'InvalidField',
  },
  {
    says: 'one receiver twice',
    spec: { ...email, email: { ...email.email, to: ['a@b.c', 'a@b.c'] } },
    path: 'spec.email.to',
    reason: 'InvalidField',
  },
  {
    says: 'no receiver',
    spec: { ...email, email: { ...email.email, to: [] } },
    path: 'spec.email.to',
    reason: 'InvalidField',
  },
  {
    says: 'an endpoint without TLS',
    spec: { ...paging, paging: { ...paging.paging, endpoint: 'http://x' } },
    path: 'spec.paging.endpoint',
    reason: 'InvalidField',
  },
  {
    says: 'a header of the service',
    spec: { ...webhook, webhook: { ...webhook.webhook, headers: { 'Webhook-Id': '1' } } },
    path: 'spec.webhook.headers["Webhook-Id"]',
    reason: 'InvalidField',
  },
  {
    says: 'a header that is no name',
    spec: { ...webhook, webhook: { ...webhook.webhook, headers: { 'X Y': '1' } } },
    path: 'spec.webhook.headers["X Y"]',
    reason: 'InvalidField',
  },
  {
    says: 'a header value of two lines',
    spec: { ...webhook, webhook: { ...webhook.webhook, headers: { X: 'a\nb' } } },
    path: 'spec.webhook.headers["X"]',
    reason: 'InvalidField',
  },
]) {
  test(`${says} is named once, with its reason`, () => {
    const { problems } = decodeChannelSpec({ spec });
    assert.deepEqual(
      problems.map((problem) => [problem.path, problem.reason]),
      [[path, reason]],
    );
  });
}

test('a bad template leaves a channel that can send in the built-in form', () => {
  const { spec } = decodeChannelSpec({ spec: { ...chat, chat: { ...chat.chat, messageTemplate: '{{ .Nope }}' } } });
  assert.ok(spec?.type === 'chat');
  assert.equal(spec.chat.messageTemplate, undefined);
});

test('each type names the Secrets it needs, and their keys', () => {
  const needed = Object.values(wholeChannelSpecs).map((spec) => {
    const decoded = decodeChannelSpec({ spec }).spec;
    assert.ok(decoded);
    return neededSecrets(decoded).map(({ namespace, name, keys }) => `${namespace}/${name}: ${keys.join()}`);
  });
  assert.deepEqual(needed, [
    ['cronjob-monitor/receiver: value'],
    ['cronjob-monitor/receiver: value'],
    ['cronjob-monitor/smtp: host'],
    ['cronjob-monitor/receiver: value', 'cronjob-monitor/receiver: signing-key'],
  ]);
});

test('a channel is not its own fallback', () => {
  const of = (name: string) => decodeChannelSpec({ metadata: { name }, spec: chat }).problems.map(({ path }) => path);
  assert.deepEqual(of('on-call'), ['spec.drill.fallbackChannel']);
  assert.deepEqual(of('team-chat'), []);
});

test('a drill of which only the schedule is written is due in UTC and may be acknowledged for an hour', () => {
  const { spec } = decodeChannelSpec({ spec: { ...chat, drill: { schedule: '0 9 * * 1' } } });
  assert.deepEqual(spec?.drill, {
    schedule: '0 9 * * 1',
    timezone: 'UTC',
    ackWithin: '1h',
    fallbackChannel: undefined,
  });
});
