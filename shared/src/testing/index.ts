export { aContainer, aCronJob, aFailedJob, aGroupOfJobs, aJob, anEnd, aPod, slotAt } from './facts.ts';
export { aPage, aRawObject, ScriptedCluster, ScriptedWatch } from './scripted-cluster.ts';
export { FakeClock, settle } from './fake-clock.ts';
export { RecordingLogger, type LoggedLine } from './recording-logger.ts';
export { listScheduleVectors, type ScheduleVector } from './golden.ts';
export { goldenCases, watchedLines, type GoldenCase, type GoldenStep } from './golden-kube.ts';
export { aTestCertificate, type TestCertificate } from './test-certificate.ts';
export { TestServer } from './test-server.ts';
export { kubeconfigText, type KubeconfigContent } from './kubeconfig.ts';
export { until } from './until.ts';
export { aTemporaryFolder } from './temporary-folder.ts';
export { listPlaces, readSpecSchema, type SchemaNode, type SchemaPlace } from './crd-schema.ts';
export { decodedMonitor, monitorDefaults } from './decoded-monitor.ts';
export { hostileFragments, hostileFrames } from './hostile-texts.ts';
export { aLease, readAll, startTestCluster } from './test-cluster.ts';
export { aRecordedRun, anActiveJob, anAlertRecord } from './rows.ts';
export { aJobFailedRule, alertRulesTo } from './rules.ts';
export { aTestStore } from './test-store.ts';
export { wholeChannelSpecs, wholeMonitorSpec } from './resource-specs.ts';
export { testsNeeding } from './tests-needing.ts';
export {
  aDigestMessage,
  aDrillMessage,
  anAlertMessage,
  anOutgoing,
  aTestMessage,
  type AlertMessageChanges,
} from './messages.ts';
