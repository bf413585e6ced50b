import type { SimCluster } from '@cronjob-monitor/simcluster';
import { startChatSink, startWebhookSink, type HttpArrival, type HttpSink } from '../sinks/index.ts';

const secretNamespace = 'platform';

/** What the service is told, so that it may send to receivers on this machine. */
export const receiverFlags: readonly string[] = [
  '--channels.allow-cidrs=127.0.0.0/8',
  `--channels.secret-namespaces=${secretNamespace}`,
];

/** Two receivers of messages, and a line on the terminal for each that arrives: what a team chat and a pager would show. */
export async function startReceivers(cluster: SimCluster): Promise<{ stop(): Promise<void> }> {
  const chat = await startChatSink();
  const pager = await startWebhookSink();
  announce(chat, 'team-chat', ({ body }) => (JSON.parse(body) as { text: string }).text.split('\n')[0] ?? '');
  announce(pager, 'on-call', ({ body }) => titleOf(JSON.parse(body) as Told));
  offer(cluster, 'team-chat', chat.url, (urlSecretRef) => ({ type: 'chat', chat: { webhookSecretRef: urlSecretRef } }));
  offer(cluster, 'on-call', pager.url, (urlSecretRef) => ({ type: 'webhook', webhook: { urlSecretRef } }));
  return {
    async stop() {
      await chat.stop();
      await pager.stop();
    },
  };
}

interface Told {
  readonly type: string;
  readonly data: { readonly alert?: { readonly title: string } };
}

function titleOf({ type, data }: Told): string {
  return data.alert?.title ?? type;
}

function announce(sink: HttpSink, name: string, titled: (arrival: HttpArrival) => string): void {
  let told = 0;
  const look = async (): Promise<void> => {
    for (;;) {
      const arrivals = await sink.log.atLeast(told + 1, 2_000_000_000);
      for (const arrival of arrivals.slice(told)) console.log(`  → ${name.padEnd(10)} ${titled(arrival)}`);
      told = arrivals.length;
    }
  };
  look().catch(() => {}); // the demo has ended
}

function offer(
  cluster: SimCluster,
  name: string,
  url: string,
  specOf: (ref: { name: string; namespace: string; key: string }) => object,
): void {
  cluster.objects.put({
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { namespace: secretNamespace, name, labels: { 'cronjob-monitor.io/channel-secret': 'true' } },
    data: { url: Buffer.from(url).toString('base64') },
  });
  cluster.objects.put({
    apiVersion: 'cronjob-monitor.io/v1alpha1',
    kind: 'AlertChannel',
    metadata: { name },
    spec: specOf({ name, namespace: secretNamespace, key: 'url' }),
  });
}
