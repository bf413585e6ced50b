import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { readTopics, type RecordedCase } from './replay/golden-file.ts';
import { leftOut } from './replay/left-out.ts';
import { playCase } from './replay/player.ts';
import { adminToken, prepareCluster } from './replay/stage.ts';

/** A part of the names of the cases to play; all of them without it. */
const only = process.env['REPLAY'];

async function replay(topic: string, recorded: RecordedCase): Promise<string[]> {
  const { cluster, clock } = await prepareCluster(topic, recorded);
  try {
    return await playCase(recorded, { url: cluster.url, token: adminToken, clock });
  } finally {
    await cluster.stop();
  }
}

const topics = readTopics();

for (const { topic, cases } of topics) {
  describe(`the simulated cluster answers as recorded: ${topic}`, () => {
    for (const recorded of cases) {
      const name = `${topic}/${recorded.name}`;
      if (name in leftOut || (only !== undefined && !name.includes(only))) continue;
      test(`${recorded.name}: ${recorded.note}`, async () => {
        const differences = await replay(topic, recorded);
        assert.deepEqual(differences, [], `${differences.length} differences:\n${differences.join('\n')}`);
      });
    }
  });
}

test('every recorded case that is left out has its reason', (t) => {
  const names = new Set(topics.flatMap(({ topic, cases }) => cases.map((recorded) => `${topic}/${recorded.name}`)));
  for (const [name, reason] of Object.entries(leftOut)) {
    assert.ok(names.has(name), `${name} is no recorded case`);
    t.diagnostic(`left out: ${name}: ${reason}`);
  }
});
