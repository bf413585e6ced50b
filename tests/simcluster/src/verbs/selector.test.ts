import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { KindRegistry } from '../kinds/registry.ts';
import type { KubeObject } from '../storage/kube-object.ts';
import { readFieldSelector, readLabelSelector } from './selector.ts';

const object: KubeObject = {
  kind: 'Pod',
  apiVersion: 'v1',
  metadata: {
    name: 'p',
    namespace: 'n',
    uid: 'u',
    resourceVersion: '1',
    creationTimestamp: '2026-01-01T00:00:00Z',
    labels: { app: 'web', 'x.io/tier': 'front', empty: '' },
  },
  spec: { nodeName: 'node-1' },
  status: { phase: 'Running' },
};

describe('label selectors', () => {
  const fits = (text: string): boolean | undefined => readLabelSelector(text)?.(object);

  test('compare, choose and ask for presence', () => {
    for (const text of [
      'app=web',
      'app==web',
      'app in (db,web)',
      'app',
      '!none',
      'app!=db',
      'none!=x',
      'app notin (db)',
      'none notin (x)',
      'empty=',
      'x.io/tier=front,app=web',
      ' app = web ',
    ]) {
      assert.equal(fits(text), true, text);
    }
    for (const text of ['app=db', 'none', '!app', 'app in (db)', 'app!=web', 'app notin (web)', 'app=web,none']) {
      assert.equal(fits(text), false, text);
    }
    assert.equal(readLabelSelector(null), undefined);
    assert.equal(readLabelSelector(''), undefined);
  });

  test('are refused when they make no sense', () => {
    for (const text of ['app in', 'app in ()web', '=web', 'a b', 'app=a b', '!', 'app=web,,x', 'app=(x)']) {
      assert.throws(() => readLabelSelector(text), { code: 400 }, text);
    }
  });
});

describe('field selectors', () => {
  const registry = new KindRegistry();
  const fits = (text: string): boolean | undefined => readFieldSelector(text, registry.get('', 'v1', 'pods'))?.(object);

  test('know the name and namespace of everything and some fields of some kinds', () => {
    for (const text of [
      'metadata.name=p',
      'metadata.namespace=n,metadata.name!=q',
      'spec.nodeName==node-1',
      'status.phase=Running',
    ]) {
      assert.equal(fits(text), true, text);
    }
    assert.equal(fits('status.phase!=Running'), false);
  });

  test('are refused for any other field', () => {
    assert.throws(() => fits('spec.colour=red'), { code: 400, message: /field label not supported: spec\.colour/ });
    assert.throws(() => fits('metadata.name'), { code: 400 });
  });
});
