import { channelTypes, chatFormats, webhookFormats } from '../../contract/vocabulary.ts';
import {
  type ChatTarget,
  type EmailTarget,
  emailTlsModes,
  headerProblem,
  messagePlaceholders,
  pagingSeverities,
  type PagingTarget,
  parseDuration,
  type SecretKeyRef,
  usualAckWithin,
  webhookMethods,
  type WebhookTarget,
  wrongPlaceholders,
} from '../../domain/index.ts';
import { refine, set, textMap } from './collection.ts';
import {
  boolean,
  defaulted,
  duration,
  integer,
  object,
  oneOf,
  optional,
  required,
  text,
  zone,
  type Field,
} from './field.ts';
import { start } from './maintenance-fields.ts';
import { refuse } from './reading.ts';

const secretMembers = { name: required(text(1, 253)), namespace: required(text(1, 63)) };

const secretRef = refine(object(secretMembers), ({ name, namespace }): Omit<SecretKeyRef, 'key'> | undefined =>
  name === undefined || namespace === undefined ? undefined : { name, namespace },
);

const secretKeyRef = refine(
  object({ ...secretMembers, key: required(text(1, 253)) }),
  ({ name, namespace, key }): SecretKeyRef | undefined =>
    name === undefined || namespace === undefined || key === undefined ? undefined : { name, namespace, key },
);

/** Text with placeholders that all exist: a message with a hole in it is refused before it is sent. */
function template(maxLength: number, pattern?: { source: string; says: string }): Field<string> {
  return refine(text(1, maxLength, pattern), (written, path, reading) => {
    const names = wrongPlaceholders(written, messagePlaceholders);
    if (names.length === 0) return written;
    return refuse(reading, path, `no such placeholder: ${names.join(', ')}`, 'InvalidPattern');
  });
}

const oneLine = { source: '^[^\\r\\n]*$', says: 'must be one line' };

const jsonTemplate = refine(template(8192), (written, path, reading) => {
  try {
    JSON.parse(written);
    return written;
  } catch {
    // The parser's own words quote the text, which may be long.
    return refuse(reading, path, 'must be the text of one JSON value', 'InvalidPattern');
  }
});

const address = text(0, 254, {
  source: '^[^\\s<>,;@"]+@[^\\s<>,;@"]+$',
  says: 'must be an address such as ops@example.org, without a display name',
});

const chat = refine(
  object({
    webhookSecretRef: required(secretKeyRef),
    format: defaulted(oneOf(chatFormats), 'slack'),
    defaultChannel: optional(text(0, 80)),
    messageTemplate: optional(template(8192)),
  }),
  ({ webhookSecretRef, format, ...rest }, path, reading): ChatTarget['chat'] | undefined => {
    if (format === 'telegram' && (rest.defaultChannel ?? '') === '')
      return refuse(reading, path, 'format telegram needs defaultChannel, the id of the chat');
    return webhookSecretRef && format && { webhookSecretRef, format, ...rest };
  },
);

const paging = refine(
  object({
    routingKeySecretRef: required(secretKeyRef),
    severity: optional(oneOf(pagingSeverities)),
    endpoint: optional(text(0, 2048, { source: '^https://[^\\s/]+', says: 'must be an https URL' })),
  }),
  ({ routingKeySecretRef, ...rest }): PagingTarget['paging'] | undefined =>
    routingKeySecretRef && { routingKeySecretRef, ...rest },
);

const email = refine(
  object({
    smtpSecretRef: required(secretRef),
    from: required(address),
    to: required(set(address, 50, 1)),
    tls: defaulted(oneOf(emailTlsModes), 'required'),
    subjectTemplate: optional(template(512, oneLine)),
    bodyTemplate: optional(template(8192)),
  }),
  ({ smtpSecretRef, from, to, tls, ...rest }): EmailTarget['email'] | undefined =>
    smtpSecretRef && from !== undefined && to && tls ? { smtpSecretRef, from, to, tls, ...rest } : undefined,
);

const headerProblems = {
  malformed: 'a header name has 1 to 64 letters, digits and hyphens',
  reserved: 'this header is set by the service',
} as const;
const headers = textMap(
  text(0, 1024, { source: oneLine.source, says: 'must have no line breaks' }),
  20,
  (name): string | undefined => {
    const problem = headerProblem(name);
    return problem && headerProblems[problem];
  },
);

const webhook = refine(
  object({
    urlSecretRef: required(secretKeyRef),
    format: defaulted(oneOf(webhookFormats), 'standard'),
    readSilences: defaulted(boolean, true),
    method: defaulted(oneOf(webhookMethods), 'POST'),
    headers: optional(headers),
    payloadTemplate: optional(jsonTemplate),
    signingSecretRef: optional(secretKeyRef),
    sendUpdates: defaulted(boolean, false),
  }),
  (read, path, reading): WebhookTarget['webhook'] | undefined => {
    const { urlSecretRef, format, readSilences = true, method, headers = {}, sendUpdates = false, ...rest } = read;
    const isPlain = rest.payloadTemplate === undefined && rest.signingSecretRef === undefined && method === 'POST';
    if (format === 'alertmanager' && !isPlain)
      return refuse(
        reading,
        path,
        'format alertmanager takes no payloadTemplate, no signingSecretRef and no method but POST',
      );
    if (!urlSecretRef || !format || !method) return undefined;
    return { urlSecretRef, format, readSilences, method, headers, sendUpdates, ...rest };
  },
);

const allowedNamespaces = set(
  text(1, 63, { source: '^([a-z0-9][-a-z0-9]*)?\\*?$', says: 'must be the name of a namespace, which may end in *' }),
  200,
);

const rateLimiting = refine(
  object({ maxAlertsPerHour: defaulted(integer(1, 1_000_000), 100), burstLimit: defaulted(integer(1, 100_000), 10) }),
  ({ maxAlertsPerHour, burstLimit }) =>
    // Without a usable limit the usual one holds: a channel is never without.
    ({ maxAlertsPerHour: maxAlertsPerHour ?? 100, burstLimit: burstLimit ?? 10 }),
);

const oneADay = {
  source: '^[0-9]{1,2}\\s+[0-9]{1,2}(\\s+\\S+){3}$',
  says: 'must be five fields of which minute and hour are one number each, such as 0 9 * * 1: at most one drill a day',
};

const [leastAckMs, mostAckMs] = [60_000, 7 * 24 * 3_600_000];

const ackWithin = refine(duration(), (value, path, reading) => {
  const ms = parseDuration(value) ?? 0;
  return ms >= leastAckMs && ms <= mostAckMs ? value : refuse(reading, path, 'must be 1m to 7d');
});

/** When a person is asked to prove that they read what arrives there. */
export interface DrillSpec {
  /** Five fields, at most one a day. */
  readonly schedule: string;
  readonly timezone: string;
  /** A duration, from when the receiver accepted it. */
  readonly ackWithin: string;
  /** Name of the AlertChannel that hears when it is not proved. */
  readonly fallbackChannel: string | undefined;
}

const drill = refine(
  object({
    schedule: required(start(oneADay)),
    timezone: defaulted(zone, 'UTC'),
    ackWithin: defaulted(ackWithin, usualAckWithin),
    fallbackChannel: optional(text(1, 253)),
  }),
  ({ schedule, timezone, ackWithin: within, fallbackChannel }): DrillSpec | undefined =>
    schedule !== undefined && timezone !== undefined && within !== undefined
      ? { schedule, timezone, ackWithin: within, fallbackChannel }
      : undefined,
);

/** All fields of an AlertChannel's spec with their rules and defaults. */
export const channelSpecField = object({
  type: required(oneOf(channelTypes)),
  chat: optional(chat),
  paging: optional(paging),
  email: optional(email),
  webhook: optional(webhook),
  allowedNamespaces: optional(allowedNamespaces),
  rateLimiting: defaulted(rateLimiting, {}),
  sendResolved: defaulted(boolean, true),
  sendRecovered: defaulted(boolean, false),
  testOnSave: defaulted(boolean, false),
  drill: optional(drill),
});
