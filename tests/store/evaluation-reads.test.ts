import { after, describe } from 'node:test';
import { durationShift, rateFacts, runFacts } from './contract/run-facts.ts';
import { sealing } from './contract/sealing.ts';
import { testDatabases } from './databases.ts';

/** What the evaluation asks of the store: one question for many CronJobs. */
const suites = [rateFacts, runFacts, durationShift, sealing];

for (const database of testDatabases()) {
  describe(`questions of the evaluation on ${database.name}`, { skip: database.skip ?? false }, () => {
    for (const suite of suites) suite(database);
    after(async () => {
      await database.remove();
    });
  });
}
