import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runCommand } from '../testing/console.ts';

const names = ['lint', 'preview', 'explain', 'route', 'convert', 'copy'];

test('help lists the commands, and each tells its usage and its ends', async () => {
  const { status, out } = await runCommand(['--help']);
  assert.equal(status, 0);
  for (const name of names) {
    assert.match(out, new RegExp(`^  ${name} `, 'm'));
    for (const argv of [
      [name, '--help'],
      ['help', name],
    ]) {
      const help = await runCommand(argv);
      assert.equal(help.status, 0);
      assert.match(help.out, new RegExp(`^Usage: cronjob-monitor ${name} `));
      assert.match(help.out, /Ends with 0: .*; 1: .*2: /);
    }
  }
});

test('nothing, and what is no command, end with 2 on standard error', async () => {
  assert.deepEqual(
    [await runCommand([]), await runCommand(['lnt'])].map(({ status, out }) => [status, out]),
    [
      [2, ''],
      [2, ''],
    ],
  );
  assert.match((await runCommand(['lnt'])).error, /"lnt" is no command; did you mean lint\?/);
});

test('the version is that of the product', async () => {
  assert.match((await runCommand(['--version'])).out, /^cronjob-monitor v\d+\.\d+\.\d+\n$/);
});

test('a name that would steer a terminal is shown as text', async () => {
  const { error } = await runCommand(['lint', 'a\u001b[31mb.yaml']);
  assert.ok(!error.includes('\u001b'), error);
});
