import { after, describe } from 'node:test';
import { slotRows } from './contract/slot-rows.ts';
import { watermarks } from './contract/watermarks.ts';
import { testDatabases } from './databases.ts';

for (const database of testDatabases()) {
  describe(`ledger of expected runs on ${database.name}`, { skip: database.skip ?? false }, () => {
    for (const suite of [slotRows, watermarks]) suite(database);
    after(async () => {
      await database.remove();
    });
  });
}
