import { getChannel } from '@cronjob-monitor/controller/channels';
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { describe } from 'node:test';
import { testsNeeding } from '@cronjob-monitor/shared/testing';
import { anAttempt, depsOf, signingKey, startReceiver } from '../channels/receivers.ts';
import { readProjectFile } from './project-files.ts';

/** What a verification is given: the request as it came, and the key. */
interface Given {
  readonly headers: Readonly<Record<string, unknown>>;
  readonly body: string;
  readonly secret: string;
}

/** The block of the page with the function `verify` in this language. */
function snippet(language: 'python' | 'js'): string {
  const blocks = readProjectFile('docs/channels.md').matchAll(/^```(\w+)\n([^]*?)^```$/gm);
  const found = [...blocks].find(([, name, code = '']) => name === language && code.includes(' verify('));
  assert.ok(found?.[2] !== undefined, language);
  return found[2];
}

/** What each language says to a request, or why it cannot be asked. */
const languages = {
  Python: ({ headers, body, secret }: Given) => {
    const code = `import json, sys\n${snippet('python')}\ngiven = json.load(sys.stdin)\nprint(verify(given["headers"], given["body"].encode(), given["secret"]))`;
    return ask('python3', ['-c', code], { headers, body, secret });
  },
  JavaScript: ({ headers, body, secret }: Given) => {
    const code = `${snippet('js')}\nconst given = JSON.parse(await new Response(process.stdin).text());\nconsole.log(verify(given.headers, Buffer.from(given.body), given.secret));`;
    return ask(process.execPath, ['--input-type=module', '-e', code], { headers, body, secret });
  },
};

function ask(command: string, args: readonly string[], given: Given): boolean {
  const { error, stdout, stderr } = spawnSync(command, args, { input: JSON.stringify(given), encoding: 'utf8' });
  assert.equal(error, undefined);
  const answer = stdout.trim().toLowerCase();
  assert.match(answer, /^(true|false)$/, stderr);
  return answer === 'true';
}

function whyNoPython(): string | undefined {
  return spawnSync('python3', ['--version']).error && 'python3 is not installed (apt-get install python3)';
}

/** A request as the webhook channel sends it now. */
async function arrived(): Promise<Given> {
  const receiver = await startReceiver('webhook');
  try {
    const outcome = await getChannel('webhook').send(anAttempt(receiver), depsOf(), new AbortController().signal);
    assert.equal(outcome.kind, 'delivered');
    const request = receiver.http?.arrivals[0];
    assert.ok(request);
    return { headers: request.headers, body: request.body, secret: signingKey };
  } finally {
    await receiver.stop();
  }
}

describe('the verification of signatures in docs/channels.md', () => {
  for (const [language, verify] of Object.entries(languages)) {
    const needing = testsNeeding(language, language === 'Python' ? whyNoPython() : undefined);
    needing.test(`in ${language} takes what the channel sends, and nothing that was changed`, async () => {
      const given = await arrived();
      const { headers, body, secret } = given;
      assert.equal(verify(given), true);
      const otherKey = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
      const signatures = `v1,bm8= ${String(headers['webhook-signature'])}`;
      assert.equal(verify({ ...given, headers: { ...headers, 'webhook-signature': signatures } }), true);
      assert.equal(verify({ headers, body: `${body} `, secret }), false);
      assert.equal(verify({ headers, body, secret: otherKey }), false);
      const earlier = String(Number(headers['webhook-timestamp']) - 600);
      assert.equal(verify({ ...given, headers: { ...headers, 'webhook-timestamp': earlier } }), false);
      assert.equal(verify({ ...given, headers: { ...headers, 'webhook-id': 'other' } }), false);
    });
  }
});
