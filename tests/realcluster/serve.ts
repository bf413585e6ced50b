// Starts a real cluster with our CRDs, prints where it is, and keeps it until Ctrl-C or the end of its parent.
import { startRealCluster } from './real-cluster.ts';

const cluster = await startRealCluster();
if ('skipped' in cluster) {
  console.error(cluster.skipped);
  process.exit(1);
}
await cluster.applyCrds();
console.log(`kubeconfig: ${cluster.kubeconfig}`);
console.log(`address:    ${cluster.url}`);

for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => void cluster.stop().then(() => process.exit(0)));
}
