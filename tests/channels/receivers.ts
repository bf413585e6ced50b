import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import {
  Connections,
  createAddressRules,
  type Attempt,
  type ChannelTarget,
  type Secrets,
  type SendDeps,
} from '@cronjob-monitor/controller/channels';
import type { ChannelType } from '@cronjob-monitor/shared/contract';
import { systemClock, type Clock } from '@cronjob-monitor/shared/process';
import { anOutgoing } from '@cronjob-monitor/shared/testing';
import { makeAuthority, type Authority, type KeyPair } from '../servers/index.ts';
import { HttpSink, SmtpSink, startChatSink, startPagingSink, startWebhookSink } from '../sinks/index.ts';

/** Stands in every value of every Secret: nothing that a channel says may hold it. */
export const canary = 'CANARY-7f3a9c51';
const namespace = 'monitoring';
/** The canary within a key of the form that the signature asks for. */
export const signingKey = `whsec_${Buffer.from(`${canary}-and-more-bytes`).toString('base64')}`;
export const login = { user: `${canary}-user`, password: `${canary}-password` };

/** A channel with a real receiver behind it. */
export interface Receiver {
  readonly type: ChannelType;
  readonly target: ChannelTarget;
  readonly secrets: Secrets;
  /** Set for channels that speak HTTP. */
  readonly http?: HttpSink;
  readonly smtp?: SmtpSink;
  /** Messages that arrived. */
  arrivals(): number;
  /** All that arrived, as it came over the wire; for HTTP the body. */
  wire(): readonly string[];
  stop(): Promise<void>;
}

/** One receiver for a channel of any type: a new type needs a line here. */
export async function startReceiver(type: ChannelType): Promise<Receiver> {
  return starters[type]();
}

/** The target alone, sending to this address; nothing listens there. */
export function targetAt(type: ChannelType, place: { url: URL }): Pick<Receiver, 'target' | 'secrets'> {
  const { url } = place;
  const host = url.hostname;
  return {
    target: makeTarget(type, url.href),
    secrets: makeSecrets({ url: withCanary(url), host, port: url.port || '587' }),
  };
}

/** A channel of the format alertmanager with these peers, apart by blanks. */
export function alertmanagerAt(urls: string): Pick<Receiver, 'target' | 'secrets'> {
  const urlSecretRef = { namespace, name: 'receiver', key: 'url' };
  const rest = { payloadTemplate: undefined, signingSecretRef: undefined, sendUpdates: false } as const;
  const webhook = {
    urlSecretRef,
    format: 'alertmanager',
    readSilences: true,
    method: 'POST',
    headers: {},
    ...rest,
  } as const;
  return { target: { type: 'webhook', webhook }, secrets: makeSecrets({ url: urls }) };
}

export function anAttempt(receiver: Pick<Receiver, 'target' | 'secrets'>, changes: Partial<Attempt> = {}): Attempt {
  const { target, secrets } = receiver;
  return { target, secrets, outgoing: anOutgoing(), form: 'full', attempt: 1, progress: undefined, ...changes };
}

/** Loopback allowed, `localhost` known. */
export function depsOf(changes: Partial<SendDeps> & { readonly clock?: Clock } = {}): SendDeps {
  return {
    clock: systemClock,
    addresses: {
      ...createAddressRules({ deny: [], allow: ['127.0.0.0/8'], pagingEndpoints: [] }),
      // Receivers of tests listen where there is room.
      takesPages: () => true,
    },
    resolve: async () => ['127.0.0.1'],
    connections: new Connections(),
    ...changes,
  };
}

let trusted: Promise<{ readonly authority: Authority; readonly localhost: KeyPair }> | undefined;

/** A certificate for `localhost` of an authority that this process trusts, as NODE_EXTRA_CA_CERTS would make it. */
export function trustedCertificate(): Promise<{ readonly authority: Authority; readonly localhost: KeyPair }> {
  trusted ??= (async () => {
    const authority = await makeAuthority();
    setDefaultCACertificates([...getCACertificates('default'), authority.certificate]);
    return { authority, localhost: await authority.issue(['localhost', '127.0.0.1']) };
  })();
  return trusted;
}

const starters: Readonly<Record<ChannelType, () => Promise<Receiver>>> = {
  chat: async () => overHttp('chat', await startChatSink()),
  webhook: async () => overHttp('webhook', await startWebhookSink({ signingKey })),
  paging: async () => overHttp('paging', await startPagingSink({ tls: (await trustedCertificate()).localhost })),
  email: async () => {
    const { localhost } = await trustedCertificate();
    return overSmtp(await SmtpSink.start({ tls: localhost, login }));
  },
};

function overHttp(type: Exclude<ChannelType, 'email'>, sink: HttpSink): Receiver {
  return {
    type,
    target: makeTarget(type, sink.url),
    secrets: makeSecrets({ url: withCanary(new URL(sink.url)) }),
    http: sink,
    arrivals: () => sink.arrivals.length,
    wire: () => sink.arrivals.map(({ body }) => body),
    stop: () => sink.stop(),
  };
}

export function overSmtp(sink: SmtpSink, content: Readonly<Record<string, string>> = {}): Receiver {
  return {
    type: 'email',
    target: makeTarget('email', ''),
    secrets: makeSecrets({
      host: 'localhost',
      port: String(sink.port),
      username: login.user,
      password: login.password,
      ...content,
    }),
    smtp: sink,
    arrivals: () => sink.arrivals.length,
    wire: () => sink.arrivals.map(({ raw }) => raw),
    stop: () => sink.stop(),
  };
}

function makeTarget(type: ChannelType, url: string): ChannelTarget {
  const ref = (key: string): { namespace: string; name: string; key: string } => ({ namespace, name: 'receiver', key });
  if (type === 'chat') {
    return {
      type,
      chat: { format: 'slack', webhookSecretRef: ref('url'), defaultChannel: '#ops', messageTemplate: undefined },
    };
  }
  if (type === 'paging') {
    return { type, paging: { routingKeySecretRef: ref('routing-key'), severity: undefined, endpoint: url } };
  }
  if (type === 'webhook') {
    return {
      type,
      webhook: {
        urlSecretRef: ref('url'),
        format: 'standard',
        readSilences: true,
        method: 'POST',
        headers: { 'X-Token': `${canary}-header` },
        payloadTemplate: undefined,
        signingSecretRef: ref('signing-key'),
        sendUpdates: false,
      },
    };
  }
  return {
    type,
    email: {
      smtpSecretRef: { namespace, name: 'receiver' },
      from: 'monitor@example.org',
      to: ['ops@example.org', 'team@example.org'],
      tls: 'required',
      subjectTemplate: undefined,
      bodyTemplate: undefined,
    },
  };
}

function makeSecrets(content: Readonly<Record<string, string>>): Secrets {
  const values = new Map(
    Object.entries({ 'routing-key': `${canary}-routing-key`, 'signing-key': signingKey, ...content }),
  );
  return () => values;
}

/** What senders keep secret of an address: path and query. */
function withCanary(url: URL): string {
  const secret = new URL(url);
  secret.pathname = `/services/${canary}`;
  secret.search = `?token=${canary}`;
  return secret.href;
}
