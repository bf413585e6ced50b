import { parseArgs } from 'node:util';
import { createSimCluster } from '../index.ts';

const usage = `simcluster [--port N] [--token T] [--seed N] [--node NAME]... [--schedule] [--accounts]
           [--keep-pages N]

Serves a simulated Kubernetes API over plain HTTP on 127.0.0.1, in real time, until SIGINT or SIGTERM. Prints its URL.
  --port N      port; a free one by default
  --token T     bearer token of the administrator; without it everybody is the administrator
  --seed N      where names and uids come from
  --node NAME   a node that is there from the start; may be given several times
  --keep-pages N  seconds until a continue token is too old, 75 by default
  --schedule    puts pods of Jobs on a node when they name none
  --accounts    gives namespaces the service account default
`;

const { values } = parseArgs({
  options: {
    port: { type: 'string', default: '0' },
    token: { type: 'string' },
    seed: { type: 'string' },
    node: { type: 'string', multiple: true, default: [] },
    'keep-pages': { type: 'string', default: '75' },
    accounts: { type: 'boolean', default: false },
    schedule: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});

if (values.help) {
  process.stdout.write(usage);
} else {
  const cluster = createSimCluster({
    port: Number(values.port),
    seed: values.seed === undefined ? process.pid : Number(values.seed),
    nodes: values.node,
    schedulePods: values.schedule,
    serviceAccounts: values.accounts,
    keepPagesMs: Number(values['keep-pages']) * 1_000,
    ...(values.token === undefined ? {} : { token: values.token }),
  });
  await cluster.start();
  process.stdout.write(`${cluster.url}\n`);
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void cluster.stop());
}
