export {
  alertmanagerPackages,
  buildAlertmanager,
  startAlertmanagers,
  whyNoAlertmanager,
  type AlertmanagerCluster,
  type AlertmanagerPeer,
  type AlertmanagerPrograms,
} from './alertmanager.ts';
export { runOnMysql, runOnPostgres, type ServerAccount } from './administer.ts';
export { makeAuthority, makeSelfSigned, type Authority, type KeyPair } from './certificates.ts';
export { Child, type ChildOptions } from './child-process.ts';
export { findFreePort } from './free-port.ts';
export { startMailServers, whyNoMailServers, type MailServers } from './mail-servers.ts';
export type { DatabaseOptions, DatabaseServer } from './database-server.ts';
export { mariadbPackages, startMariadb, whyNoMariadb } from './mariadb.ts';
export {
  MonitorProcess,
  sourcePrograms,
  type EntryPoint,
  type LogLine,
  type MonitorOptions,
  type ProcessEnd,
} from './monitor-process.ts';
export { type StoragePlace } from './storage-flags.ts';
export { startPostgres } from './postgres.ts';
export { startFaultProxy, type Direction, type Disturbance, type FaultProxy, type PassedPiece } from './tcp-proxy.ts';
export { imageArguments, imageEnvironment } from './image-environment.ts';
export { imageTree } from './image-tree.ts';
