import assert from 'node:assert/strict';
import { test } from 'node:test';
import { chatFormats, type RenderedMessage } from '../../contract/index.ts';
import { aDigestMessage, aDrillMessage, anAlertMessage, anOutgoing } from '../../testing/index.ts';
import type { Outgoing } from '../delivery/message.ts';
import { chatPayload } from './chat/payload.ts';
import { emailPayload } from './email-payload.ts';
import { exampleOutgoing } from './example.ts';
import { pagingPayload } from './paging-payload.ts';
import { renderMessage } from './render.ts';
import type { ChannelTarget, ChatTarget, EmailTarget, PagingTarget, WebhookTarget } from './target.ts';
import { webhookPayload } from './webhook-payload.ts';

const secret = { namespace: 'ops', name: 'receiver', key: 'url' };
const chat = (format: ChatTarget['chat']['format']): ChatTarget => ({
  type: 'chat',
  chat: { format, webhookSecretRef: secret, defaultChannel: '#ops', messageTemplate: undefined },
});
const paging: PagingTarget = {
  type: 'paging',
  paging: { routingKeySecretRef: secret, severity: undefined, endpoint: undefined },
};
const email: EmailTarget = {
  type: 'email',
  email: {
    smtpSecretRef: secret,
    from: 'monitor@example.org',
    to: ['team@example.org'],
    tls: 'required',
    subjectTemplate: undefined,
    bodyTemplate: undefined,
  },
};
const webhook: WebhookTarget = {
  type: 'webhook',
  webhook: {
    urlSecretRef: secret,
    format: 'standard',
    readSilences: true,
    method: 'POST',
    headers: { Authorization: 'Bearer hunter2' },
    payloadTemplate: undefined,
    signingSecretRef: secret,
    sendUpdates: false,
  },
};
const targets: readonly ChannelTarget[] = [...chatFormats.map(chat), paging, email, webhook];

test('a message is shown with the bytes that its channel sends', () => {
  const outgoing = anOutgoing();
  for (const format of chatFormats) {
    assert.equal(
      renderMessage(outgoing, chat(format)).body,
      JSON.stringify(chatPayload(outgoing, chat(format), 'full')),
    );
  }
  assert.equal(renderMessage(outgoing, paging).body, JSON.stringify(pagingPayload(outgoing, paging, 'full')));
  assert.equal(renderMessage(outgoing, webhook).body, webhookPayload(outgoing, webhook, 'full').body);
  const { subject: title, text, html } = emailPayload(outgoing, email, 'full');
  assert.deepEqual(renderMessage(outgoing, email), { format: 'email', title, text, html, blocks: null, body: null });
});

test('each medium says what has failed, and shows no address or name of a Secret', () => {
  for (const target of targets) {
    const shown = renderMessage(anOutgoing(), target);
    assert.match(shown.text, /prod\W*\/\W*nightly/, shown.format);
    assert.doesNotMatch(JSON.stringify(shown), /hunter2|receiver/, shown.format);
  }
});

test('the key of a drill, which acknowledges it, is shown to no reader', () => {
  const outgoing = anOutgoing({ message: { kind: 'drill', data: aDrillMessage() } });
  for (const target of targets) {
    const shown: RenderedMessage = renderMessage(outgoing, target);
    assert.doesNotMatch(JSON.stringify(shown), /5f3a9c510b2e4d6f8a1c3e5d7f902b4d|key=/, shown.format);
  }
});

test('hostile text makes no element, no script and no link of its own in a mail', () => {
  const hostile = `"><script>alert(1)</script><img src=x onerror=alert(2)>\u202e<a href="javascript:alert(3)">`;
  const data = anAlertMessage({ alert: { message: hostile, title: hostile }, context: { logs: hostile } });
  const { html, text } = renderMessage(anOutgoing({ message: { kind: 'firing', data } }), email);
  assert.doesNotMatch(html ?? '', /<script|<img|<a href="javascript|\u202e/i);
  assert.ok(text.includes('<script>alert(1)</script>'), 'as text it stays what it is');
});

test('a digest that an Alertmanager gets one by one is an empty list, and still a rendering', () => {
  const alertmanager: WebhookTarget = { ...webhook, webhook: { ...webhook.webhook, format: 'alertmanager' } };
  const digest: Outgoing = anOutgoing({ message: { kind: 'digest', data: aDigestMessage() } });
  assert.equal(renderMessage(digest, alertmanager).body, '[]');
});

test('an example says that nothing has happened, in every medium', () => {
  const outgoing = exampleOutgoing({
    cluster: undefined,
    externalUrl: 'https://monitor.example.org/',
    monitor: { namespace: 'prod', name: 'dr' },
    cronJob: { namespace: 'prod', name: 'backup' },
    type: 'jobFailed',
    severity: 'warning',
    at: Date.UTC(2026, 10, 21, 2),
  });
  for (const target of targets) {
    const { text, title, format } = renderMessage(outgoing, target);
    assert.match(text, /example\W+nothing has happened/, format);
    assert.match(title, /prod\/backup/, format);
  }
});
