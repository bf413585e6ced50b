import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  messagePlaceholders,
  parseTemplate,
  renderJsonTemplate,
  renderTemplate,
  suggestionPlaceholders,
  unknownPlaceholders,
} from './parse.ts';

const values = { 'CronJob.Name': 'backup', Namespace: 'prod', ExitCode: undefined, Reason: '{{ .Namespace }}' };

for (const { says, text, becomes } of [
  { says: 'text without placeholders stays', text: 'free {space} on } it', becomes: 'free {space} on } it' },
  { says: 'blanks inside the braces are free', text: '{{.CronJob.Name}} {{   .Namespace }}', becomes: 'backup prod' },
  { says: 'a missing value is empty text', text: 'code {{ .ExitCode }}.', becomes: 'code .' },
  { says: 'an unknown name stays as written', text: '{{ .Nope }} {{ .Namespace }}', becomes: '{{ .Nope }} prod' },
  { says: 'a value with braces is not filled again', text: '{{ .Reason }}', becomes: '{{ .Namespace }}' },
  {
    says: 'blocks and pipes stay as written',
    text: '{{ if .Reason }}{{ .Namespace | upper }}',
    becomes: '{{ if .Reason }}{{ .Namespace | upper }}',
  },
  { says: 'an open brace at the end stays', text: 'x {{ .Namespace', becomes: 'x {{ .Namespace' },
  { says: 'names of Object.prototype are unknown names', text: '{{ .constructor }}', becomes: '{{ .constructor }}' },
]) {
  test(says, () => assert.equal(renderTemplate(parseTemplate(text), values), becomes));
}

test('values are escaped, the template is not', () => {
  const escape = (value: string): string => value.toUpperCase();
  assert.equal(renderTemplate(parseTemplate('of {{ .Namespace }}'), values, escape), 'of PROD');
});

test('only string leaves of a JSON template are filled', () => {
  const json = { text: 'in {{ .Namespace }}', '{{ .Namespace }}': [1, true, null, '{{ .CronJob.Name }}'] };
  assert.deepEqual(renderJsonTemplate(json, values), {
    text: 'in prod',
    '{{ .Namespace }}': [1, true, null, 'backup'],
  });
});

test('unknown names are listed once, in order', () => {
  const template = parseTemplate('{{ .B }} {{ .A }} {{ .B }} {{ .Namespace }}');
  assert.deepEqual(unknownPlaceholders(template, suggestionPlaceholders), ['B', 'A']);
});

test('names of messages are unknown in suggestions', () => {
  const template = parseTemplate('{{ .Alert.Title }} {{ .Node }}');
  assert.deepEqual(unknownPlaceholders(template, suggestionPlaceholders), ['Alert.Title']);
  assert.deepEqual(unknownPlaceholders(template, messagePlaceholders), []);
});

for (const { says, text } of [
  { says: 'a block', text: '{{ range .Items }}' },
  { says: 'a pipe', text: '{{ .Name | quote }}' },
  { says: 'a name without its dot', text: '{{ Name }}' },
  { says: 'empty braces', text: '{{ }}' },
  { says: 'braces that never close', text: 'x {{ .Name' },
]) {
  test(`${says} is malformed`, () => assert.equal(parseTemplate(text).malformed.length, 1));
}

test('a template of good placeholders has nothing malformed', () => {
  const text = messagePlaceholders.map((name) => `{{ .${name} }}`).join(' ');
  const template = parseTemplate(text);
  assert.deepEqual([template.malformed, unknownPlaceholders(template, messagePlaceholders)], [[], []]);
});
