// Writes the examples of docs/channels.md as the channels send them; with --check it only tells whether they are current.
import { createServer } from 'node:http';
import { keepSections } from './written-page.mjs';
import { inNode24 } from '../in-node-24.mjs';

await inNode24();
const { composeMail } = await import('../../controller/src/channels/email/index.ts');
const { Connections, createAddressRules, getChannel } = await import('../../controller/src/channels/index.ts');
const { chatFormats } = await import('../../shared/src/contract/index.ts');
const { chatNames } = await import('../../webui/src/format/channels.ts');
const { systemClock } = await import('../../shared/src/process/index.ts');
const { exampleOutgoing } = await import('./example-message.mjs');

const secret = (key) => ({ namespace: 'cronjob-monitor', name: 'receiver', key });
export const signingKey = `whsec_${Buffer.from('example-key-of-24-bytes!').toString('base64')}`;

export const targets = {
  chat: { type: 'chat', chat: { format: 'slack', webhookSecretRef: secret('url'), defaultChannel: '#backups' } },
  paging: { type: 'paging', paging: { routingKeySecretRef: secret('routing-key') } },
  email: {
    type: 'email',
    email: { smtpSecretRef: secret(), from: 'monitor@example.org', to: ['team@example.org'], tls: 'required' },
  },
  webhook: {
    type: 'webhook',
    webhook: {
      urlSecretRef: secret('url'),
      format: 'standard',
      method: 'POST',
      headers: { 'X-Team': 'data' },
      signingSecretRef: secret('signing-key'),
    },
  },
};

/** What a channel puts on the wire, but for credentials. */
export function payloadOf(type, kind, target = targets[type]) {
  return getChannel(type).payloadOf(exampleOutgoing(kind), target, 'full');
}

/** A request of the webhook channel as a receiver on this machine gets it: headers but those of the connection, and the body. */
export async function webhookRequest() {
  const outgoing = exampleOutgoing();
  const { promise, resolve } = Promise.withResolvers();
  const server = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (text) => {
      body += text;
    });
    request.on('end', () => {
      response.writeHead(204).end();
      resolve({ headers: request.headers, body });
    });
  }).listen(0, '127.0.0.1');
  await new Promise((begun) => {
    server.once('listening', begun);
  });
  const values = new Map([
    ['url', `http://127.0.0.1:${server.address().port}/`],
    ['signing-key', signingKey],
  ]);
  const attempt = {
    target: targets.webhook,
    secrets: () => values,
    outgoing,
    form: 'full',
    attempt: 1,
    progress: undefined,
  };
  const deps = {
    clock: { ...systemClock, now: () => outgoing.createdAt + 400 },
    addresses: createAddressRules({ deny: [], allow: ['127.0.0.1'], pagingEndpoints: [] }),
    resolve: async () => ['127.0.0.1'],
    connections: new Connections(),
  };
  try {
    const outcome = await getChannel('webhook').send(attempt, deps, new AbortController().signal);
    if (outcome.kind !== 'delivered') throw new Error(`the example was not delivered: ${JSON.stringify(outcome)}`);
    const { headers, body } = await promise;
    const own = Object.entries(headers).filter(
      ([name]) => !/^(host|connection|content-length|accept.*|transfer-encoding)$/.test(name),
    );
    return { headers: Object.fromEntries(own), body };
  } finally {
    server.close();
    server.closeAllConnections();
  }
}

const json = (value) => `\`\`\`json\n${JSON.stringify(value, null, 2)}\n\`\`\``;
const folded = (summary, text) => `<details><summary>${summary}</summary>\n\n${text}\n\n</details>`;

if (import.meta.main) {
  const { headers, body } = await webhookRequest();
  const heads = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  const mail = payloadOf('email');
  const mailHead = (await composeMail(mail)).toString('utf8').split('\r\n\r\n', 1)[0] ?? '';
  const mailText = `${mailHead.replaceAll('\r\n', '\n')}\n\n${mail.text.trim()}`;
  const routingKey = { routing_key: '…' };
  keepSections(
    'channels.md',
    {
      'the chat message': folded("Slack's message", json(payloadOf('chat'))),
      'the other chats': chatFormats
        .filter((format) => format !== 'slack')
        .map((format) => {
          const chat = {
            ...targets.chat.chat,
            format,
            defaultChannel: format === 'telegram' ? '-1001234567890' : undefined,
          };
          return folded(`${chatNames[format]}'s message`, json(payloadOf('chat', 'firing', { type: 'chat', chat })));
        })
        .join('\n\n'),
      'the events': [
        folded('The trigger', json({ ...routingKey, ...payloadOf('paging')[0] })),
        folded('The resolve, when it is over', json({ ...routingKey, ...payloadOf('paging', 'closing')[0] })),
      ].join('\n\n'),
      'the mail': folded('Headers, and the part in plain text', `\`\`\`\n${mailText}\n\`\`\``),
      'the alerts': folded(
        'The body',
        json(
          JSON.parse(
            payloadOf('webhook', 'firing', {
              type: 'webhook',
              webhook: { ...targets.webhook.webhook, format: 'alertmanager' },
            }).body,
          ),
        ),
      ),
      'the request': [
        `\`\`\`http\nPOST / HTTP/1.1\n${heads.join('\n')}\n\`\`\``,
        folded('The body, which is sent in one line', json(JSON.parse(body))),
      ].join('\n\n'),
    },
    'channel-examples.mjs',
  );
}
