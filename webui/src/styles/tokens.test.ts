import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';

const source = fileURLToPath(new URL('..', import.meta.url));
const colours = readFileSync(new URL('./tokens/colours.css', import.meta.url), 'utf8');

/** Every token with its colour in both themes. */
const tokens = new Map(
  [...colours.matchAll(/--([\w-]+): light-dark\((#[0-9a-f]{6}), (#[0-9a-f]{6})\)/g)].map(
    ([, name = '', light = '', dark = '']) => [name, { light, dark }],
  ),
);
const tones = ['ok', 'warn', 'crit', 'run', 'off', 'held'] as const;
const themes = ['light', 'dark'] as const;
type Theme = (typeof themes)[number];

/** Relative luminance of WCAG 2.2. */
function luminance(hex: string): number {
  const channel = (at: number): number => {
    const value = Number.parseInt(hex.slice(at, at + 2), 16) / 255;
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  };
  return 0.2126 * channel(1) + 0.7152 * channel(3) + 0.0722 * channel(5);
}

function contrast(one: string, other: string, theme: Theme): number {
  const a = tokens.get(one)?.[theme];
  const b = tokens.get(other)?.[theme];
  assert.ok(a && b, `${one} and ${other} are tokens`);
  const [high = 0, low = 0] = [luminance(a), luminance(b)].sort((x, y) => y - x);
  return Math.round(((high + 0.05) / (low + 0.05)) * 100) / 100;
}

const grounds = ['page', 'card', 'sunken'] as const;

describe('the contrast', () => {
  for (const theme of themes) {
    const least = theme === 'light' ? { text: 5.7, mark: 3.1 } : { text: 6.7, mark: 4.5 };

    test(`of each tone is enough to be read, ${theme}`, () => {
      for (const tone of tones) {
        for (const ground of [...grounds, `${tone}-tint`]) {
          const ratio = contrast(`${tone}-text`, ground, theme);
          assert.ok(ratio >= least.text, `${tone} text on ${ground}: ${ratio.toFixed(2)}`);
        }
        for (const ground of grounds) {
          const ratio = contrast(`${tone}-mark`, ground, theme);
          assert.ok(ratio >= least.mark, `${tone} mark on ${ground}: ${ratio.toFixed(2)}`);
        }
      }
    });

    test(`of a quiet success in a drawing is enough to be seen, ${theme}`, () => {
      for (const ground of ['page', 'card'] as const) assert.ok(contrast('ok-quiet', ground, theme) >= 3, ground);
    });

    test(`of text, of the edge of controls and of the accent is enough, ${theme}`, () => {
      for (const ground of grounds) {
        assert.ok(contrast('text', ground, theme) >= 7, `text on ${ground}`);
        assert.ok(contrast('text-2', ground, theme) >= 7, `text-2 on ${ground}`);
        assert.ok(
          contrast('text-3', ground, theme) >= 5.1,
          `text-3 on ${ground}: ${contrast('text-3', ground, theme).toFixed(2)}`,
        );
        assert.ok(
          contrast('edge', ground, theme) >= 3.2,
          `edge on ${ground}: ${contrast('edge', ground, theme).toFixed(2)}`,
        );
        assert.ok(contrast('accent', ground, theme) >= 4.5, `accent on ${ground}`);
      }
      for (const tone of ['crit', 'warn'] as const)
        assert.ok(contrast('text-2', `${tone}-tint`, theme) >= 7, `text-2 on ${tone}`);
      assert.ok(contrast('on-accent', 'accent', theme) >= 4.5, 'words on a filled button');
      assert.ok(contrast('on-mark', 'crit-mark', theme) >= 4.5, 'words on a button that deletes');
    });
  }
});

test('no file but the tokens names a colour', () => {
  const files = globSync('**/*.{svelte,css}', { cwd: source }).filter((file) => !/^styles[/\\]tokens/.test(file));
  assert.ok(files.length > 50, 'the files are found');
  const named = files.filter((file) => {
    const text = readFileSync(`${source}/${file}`, 'utf8');
    const style = file.endsWith('.css') ? text : (/<style>([^]*)<\/style>/.exec(text)?.[1] ?? '');
    return /#[0-9a-f]{3,8}\b|\brgba?\(|\bhsla?\(|:\s*(white|black|red|green|blue|gr[ae]y)\b/i.test(style);
  });
  assert.deepEqual(named, []);
});

test('every token that is used is there', () => {
  const declared = new Set(
    ['colours', 'dimensions', 'typography'].flatMap((name) =>
      [...readFileSync(new URL(`./tokens/${name}.css`, import.meta.url), 'utf8').matchAll(/--([\w-]+):/g)].map(
        ([, token]) => token,
      ),
    ),
  );
  // Given to a part by the element around it.
  const local = new Set(['mark', 'edge-mark', 'card-order', 'share', 'name-width', 'name-size', 'lane-height']);
  const missing = globSync('**/*.{svelte,css}', { cwd: source }).flatMap((file) =>
    [...readFileSync(`${source}/${file}`, 'utf8').matchAll(/var\(--([\w-]+)/g)]
      .map(([, token = '']) => token)
      .filter((token) => !declared.has(token) && !local.has(token))
      .map((token) => `${file}: ${token}`),
  );
  assert.deepEqual(missing, []);
});
