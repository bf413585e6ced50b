/**
 * A simulated Kubernetes cluster: an HTTP server that answers as the API server does, with controllers of its own that run
 * CronJobs, Jobs and scripted pods, under real or virtual time.
 */
export { createSimCluster, type ObservedWrite, type SimCluster, type SimClusterOptions } from './cluster.ts';
export { createClock, type PendingCall, type SimClock, type VirtualClock } from './time/sim-clock.ts';
export type { ClusterObjects, ObjectName } from './objects.ts';
export type { FaultEffect, FaultScript, FaultTarget, SetFault } from './faults.ts';
export type { AccessRule, Deed } from './access/authorize.ts';
export type { User } from './http/api-request.ts';
export type { TlsFiles } from './http/api-server.ts';
export type { KubeObject, ObjectMeta } from './storage/kube-object.ts';
export { piecesOf, type ContainerLog, type LogBook, type LogPiece } from './logs/log-book.ts';
export { readCronText, type CronRule } from './schedule/cron-text.ts';
export { nextDue } from './schedule/due-minutes.ts';
