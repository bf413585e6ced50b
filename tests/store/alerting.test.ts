import { after, describe } from 'node:test';
import { alertRows, ledger, saidByPeople } from './contract/alerts.ts';
import { earlierTerms, limits, outbox } from './contract/claims.ts';
import { digests, heldChannels, toldAnew, unwantedMessages } from './contract/delivery-care.ts';
import { drills } from './contract/drills.ts';
import { judging } from './contract/judging.ts';
import { settling, streams } from './contract/settling.ts';
import { settlingTogether } from './contract/settling-together.ts';
import { testDatabases } from './databases.ts';

/** What alerting asks of the store. */
const suites = [
  alertRows,
  ledger,
  saidByPeople,
  outbox,
  earlierTerms,
  limits,
  settling,
  settlingTogether,
  streams,
  unwantedMessages,
  heldChannels,
  digests,
  toldAnew,
  drills,
  judging,
];

for (const database of testDatabases()) {
  describe(`questions of alerting on ${database.name}`, { skip: database.skip ?? false }, () => {
    for (const suite of suites) suite(database);
    after(async () => {
      await database.remove();
    });
  });
}
