import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { loadConfig } from '@cronjob-monitor/shared/config';
import { pagesAddress } from './pages-address.ts';

test('--help and --version are answered before anything is simulated', () => {
  for (const [flag, words] of [
    ['--help', /^Usage: cronjob-monitor standalone/],
    ['--version', /^cronjob-monitor standalone v/],
  ] as const) {
    const { status, stdout } = start(flag);
    assert.equal(status, 0);
    assert.match(stdout, words);
    assert.doesNotMatch(stdout, /Simulat/);
  }
});

test('a flag that is no key ends the start before anything is simulated', () => {
  const { status, stdout, stderr } = start('--ui.prt=9090');
  assert.equal(status, 2);
  assert.match(stderr, /^configuration: ui\.prt \(flag --ui\.prt\) is no key/);
  assert.equal(stdout, '');
});

test('a start whose pages would have any free port is refused, for their address could not be told', () => {
  const { status, stderr } = start('--ui.port=0');
  assert.equal(status, 2);
  assert.match(stderr, /^ui\.port = 0: .+1 to 65535/);
});

test('the pages are where the configuration says, whether by flag or by variable', () => {
  assert.equal(addressWith([], {}), 'http://127.0.0.1:8080/');
  assert.equal(addressWith([], { MONITOR_UI_PORT: '9090' }), 'http://127.0.0.1:9090/');
  assert.equal(addressWith(['--ui.port', '9191'], { MONITOR_UI_PORT: '9090' }), 'http://127.0.0.1:9191/');
  assert.equal(addressWith(['--api.host=::1'], {}), 'http://[::1]:8080/');
  assert.equal(addressWith(['--ui.enabled=false'], {}), undefined);
});

function start(...flags: readonly string[]) {
  const program = fileURLToPath(new URL('start.ts', import.meta.url));
  return spawnSync(process.execPath, [program, ...flags], { encoding: 'utf8', timeout: 60_000 });
}

function addressWith(argv: readonly string[], environment: Readonly<Record<string, string>>): string | undefined {
  const own = ['--storage.sqlite.path=./monitor.db', ...argv];
  const { loaded, problems } = loadConfig({ entryPoint: 'standalone', argv: own, environment, filePaths: [] });
  assert.ok(loaded, problems.join('\n'));
  return pagesAddress(loaded);
}
