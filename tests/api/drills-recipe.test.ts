import { runCommand } from '@cronjob-monitor/controller/testing';
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { startFleet, addChannel } from '@cronjob-monitor/apiserver/testing';
import type { Drill, DrillList } from '@cronjob-monitor/shared/contract';

const recipes = readFileSync(new URL('../../docs/recipes.md', import.meta.url), 'utf8');
const shell = promisify(execFile);

/** Lines of the shell in one recipe. */
function linesOf(title: string): readonly string[] {
  const recipe = recipes.split('\n## ').find((each) => each.startsWith(`${title}\n`)) ?? '';
  return [...recipe.matchAll(/^```sh\n([^]*?)^```$/gm)].flatMap(([, block = '']) => block.trim().split('\n'));
}

test('the lines of the recipe for drills begin one, list it, and fail as long as no person has proved the channel', async () => {
  await using fleet = await startFleet();
  await addChannel(fleet, { name: 'data-chat' });
  await fleet.addMonitor({ spec: { alerting: { channelRefs: [{ name: 'data-chat', severities: [] }] } } }, [
    await fleet.addCronJob({ namespace: 'prod', name: 'backup' }),
  ]);
  const url = `http://127.0.0.1:${fleet.server.port}`;
  const [begins, lists, covers, ...rest] = linesOf('Prove each quarter that people read the channels');
  assert.deepEqual(rest, []);
  const run = async (line = '') => {
    assert.match(line, /^curl /);
    const { stdout } = await shell('/bin/sh', ['-c', line], { env: { ...process.env, API: `${url}/api/v1` } });
    return JSON.parse(stdout) as unknown;
  };
  const drill = (await run(begins)) as Drill;
  assert.equal(drill.outcome, 'waiting');
  const { items } = (await run(lists)) as DrillList;
  assert.deepEqual(
    items.map(({ id }) => id),
    [drill.id],
  );
  const [command, ...args] = (covers ?? '').replace('$URL', url).split(' ');
  assert.equal(command, 'cronjob-monitor');
  const { status, out } = await runCommand(args);
  assert.equal(status, 1, out);
  assert.match(out, /covered: 0 of 1 CronJob /);
});
