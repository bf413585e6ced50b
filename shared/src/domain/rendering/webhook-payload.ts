import type { Message, Outgoing } from '../delivery/message.ts';
import { toSafeMessage, withoutDetails } from '../delivery/safe-message.ts';
import { templateValuesOf } from '../delivery/template-values.ts';
import { renderJsonTemplate, usableTemplate } from '../template/parse.ts';
import { inBytes } from '../text/cut.ts';
import type { Form, WebhookTarget } from './target.ts';

/** The body, byte by byte the same on every attempt of one form. */
export interface WebhookPayload {
  readonly body: string;
}

type WebhookEventType =
  | 'alert.firing'
  | 'alert.reminder'
  | 'alert.updated'
  | 'alert.resolved'
  | 'alert.expired'
  | 'alert.digest'
  | 'channel.test'
  | 'channel.drill'
  | 'channel.unproved';

const mostBodyBytes = 64 * 1024;
/** Bounds of the log, tried one after the other until the body fits. */
const logBytes = [16 * 1024, 4 * 1024, 0];

/** The message model as JSON, or what the template of the spec makes of it. alerting.md sections 10.3 and 10.5. */
export function webhookPayload(outgoing: Outgoing, { webhook }: WebhookTarget, form: Form): WebhookPayload {
  const least = (): string => toBody(withoutDetails(toSafeMessage(outgoing.message, 0)), outgoing);
  if (form === 'reduced') return { body: least() };
  const template = parseTemplateJson(webhook.payloadTemplate);
  const body =
    (template &&
      firstFitting(variantsOf(outgoing.message), (message) => fill(template.json, { ...outgoing, message }))) ??
    firstFitting(variantsOf(outgoing.message), (message) => toBody(message, outgoing)) ??
    least();
  return { body };
}

function eventTypeOf(message: Message): WebhookEventType {
  if (message.kind === 'test') return 'channel.test';
  if (message.kind === 'drill') return message.data.drill.news === 'unproved' ? 'channel.unproved' : 'channel.drill';
  if (message.kind === 'update') return 'alert.updated';
  if (message.kind === 'digest') return 'alert.digest';
  if (message.kind === 'firing') return 'alert.firing';
  if (message.kind === 'closing') return message.data.alert.state === 'resolved' ? 'alert.resolved' : 'alert.expired';
  return 'alert.reminder';
}

/** The same message with less and less of what is long: of the log, or of the alerts of a digest. */
function* variantsOf(message: Message): Generator<Message> {
  for (const bytes of logBytes) yield toSafeMessage(message, bytes);
  const safe = toSafeMessage(message, 0);
  if (safe.kind !== 'digest') return;
  const { digest } = safe.data;
  for (let most = digest.alerts.length; most >= 1; most = Math.floor(most * 0.75)) {
    yield { kind: 'digest', data: { ...safe.data, digest: { ...digest, alerts: digest.alerts.slice(0, most) } } };
  }
}

function firstFitting(messages: Iterable<Message>, toText: (message: Message) => string): string | undefined {
  for (const message of messages) {
    const text = toText(message);
    if (inBytes(text) <= mostBodyBytes) return text;
  }
  return undefined;
}

function toBody(message: Message, { createdAt }: Pick<Outgoing, 'createdAt'>): string {
  return JSON.stringify({
    type: eventTypeOf(message),
    timestamp: new Date(createdAt).toISOString(),
    data: message.data,
  });
}

function fill(template: unknown, outgoing: Outgoing): string {
  return JSON.stringify(renderJsonTemplate(template, templateValuesOf(outgoing)));
}

/** Undefined without a template, and for one that cannot be used: validation names it. */
function parseTemplateJson(text: string | undefined): { readonly json: unknown } | undefined {
  const usable = usableTemplate(text);
  if (usable === undefined) return undefined;
  try {
    return { json: JSON.parse(usable) };
  } catch {
    return undefined; // The message goes in the default form.
  }
}
