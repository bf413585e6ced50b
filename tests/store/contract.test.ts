import { after, describe } from 'node:test';
import { testDatabases } from './databases.ts';
import { agingAlerts } from './contract/aging-alerts.ts';
import { agingCatalog } from './contract/aging-catalog.ts';
import { activeJobs, lateFacts } from './contract/active-jobs.ts';
import { channels, monitors } from './contract/catalog-of-monitors.ts';
import { cronJobs, specEpochs } from './contract/catalog.ts';
import { executionColumns } from './contract/execution-columns.ts';
import { executionIndexes } from './contract/execution-indexes.ts';
import { expected } from './contract/expected.ts';
import { explainedRuns } from './contract/explained-runs.ts';
import { forecasts } from './contract/forecasts.ts';
import { deletion, evidence, pruning } from './contract/history.ts';
import { jobGroups } from './contract/job-groups.ts';
import { heartbeats, leader } from './contract/leader.ts';
import { leaderBeats, leaderLock } from './contract/leader-lock.ts';
import { firstMigration, migrations } from './contract/migrations.ts';
import { nights } from './contract/nights.ts';
import { outputFacts } from './contract/output-facts.ts';
import { recording } from './contract/recording.ts';
import { rollouts } from './contract/rollouts.ts';
import { states } from './contract/states.ts';
import { errors, transactions } from './contract/transactions.ts';
import { unseenRuns } from './contract/unseen-runs.ts';
import { values } from './contract/values.ts';

const suites = [
  migrations,
  firstMigration,
  executionColumns,
  executionIndexes,
  values,
  transactions,
  errors,
  leader,
  heartbeats,
  leaderLock,
  leaderBeats,
  cronJobs,
  specEpochs,
  jobGroups,
  monitors,
  expected,
  channels,
  recording,
  outputFacts,
  rollouts,
  states,
  unseenRuns,
  activeJobs,
  lateFacts,
  evidence,
  explainedRuns,
  deletion,
  pruning,
  forecasts,
  nights,
  agingAlerts,
  agingCatalog,
];

for (const database of testDatabases()) {
  describe(`store on ${database.name}`, { skip: database.skip ?? false }, () => {
    for (const suite of suites) suite(database);
    after(async () => {
      await database.remove();
    });
  });
}
