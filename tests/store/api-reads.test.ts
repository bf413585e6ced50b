import { after, describe } from 'node:test';
import { alertLists } from './contract/alert-lists.ts';
import { cronJobList, orderedLists } from './contract/cron-job-list.ts';
import { runDays } from './contract/run-days.ts';
import { runFigures } from './contract/run-figures.ts';
import { runHistory } from './contract/run-history.ts';
import { channelStates, deliveryLists, muted } from './contract/told.ts';
import { testDatabases } from './databases.ts';

/** What the API asks of the store. */
const suites = [
  cronJobList,
  orderedLists,
  runHistory,
  runFigures,
  runDays,
  alertLists,
  deliveryLists,
  channelStates,
  muted,
];

for (const database of testDatabases()) {
  describe(`questions of the API on ${database.name}`, { skip: database.skip ?? false }, () => {
    for (const suite of suites) suite(database);
    after(async () => {
      await database.remove();
    });
  });
}
