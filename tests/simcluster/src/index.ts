/**
 * A simulated Kubernetes cluster: an HTTP server that answers as the API server does, with controllers of its own that run
 * CronJobs, Jobs and scripted pods, under real or virtual time.
 */
export { createSimCluster, type ObservedWrite, type SimCluster, type SimClusterOptions } from './cluster.ts';
export { createClock, type VirtualClock } from './time/sim-clock.ts';
export type { FaultEffect, FaultScript, FaultTarget } from './faults.ts';
export type { KubeObject } from './storage/kube-object.ts';
export { piecesOf } from './logs/log-book.ts';
export { readCronText, type CronRule } from './schedule/cron-text.ts';
export { nextDue } from './schedule/due-minutes.ts';
