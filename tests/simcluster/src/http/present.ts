import { isFields, type Fields } from '../json.ts';
import { apiVersionOf, type Kind } from '../kinds/kind.ts';
import type { KubeObject } from '../storage/kube-object.ts';
import { partialOf, printTable } from './table.ts';
import { presentEvent } from './events-v1.ts';
import type { ObjectList } from '../verbs/list.ts';
import type { Form } from './negotiate.ts';

/** Makes an answer of the form the client asked for: objects, metadata alone, or a table. */
export function present(
  body: unknown,
  form: Form,
  kind: Kind,
  request: { query: URLSearchParams; now: number },
): unknown {
  if (isList(body)) return presentList(body, form, request);
  if (!isObjectOf(body, kind)) return body;
  if (form.as === 'PartialObjectMetadata') return partialOf(body);
  if (form.as === 'Table') {
    const metadata = { resourceVersion: body.metadata.resourceVersion };
    return printTable({ kind, items: [body], metadata, ...request });
  }
  return presentObject(body, kind);
}

/** One object in the words of its group: events exist in two. What was never stored has no version to show. */
export function presentObject(object: KubeObject, kind: Kind): KubeObject | Fields {
  const shown = kind.group === 'events.k8s.io' ? presentEvent(object) : object;
  if (object.metadata.resourceVersion !== '') return shown;
  const { resourceVersion: _none, ...metadata } = object.metadata;
  return { ...shown, metadata };
}

function presentList(list: ObjectList, form: Form, request: { query: URLSearchParams; now: number }): unknown {
  const { listOf: kind, metadata, items } = list;
  if (form.as === 'PartialObjectMetadataList') {
    return { kind: 'PartialObjectMetadataList', apiVersion: 'meta.k8s.io/v1', metadata, items: items.map(partialOf) };
  }
  if (form.as === 'Table') return printTable({ kind, items, metadata, ...request });
  return {
    kind: kind.listKind,
    apiVersion: apiVersionOf(kind),
    metadata,
    items: kind.custom === undefined ? items.map((item) => withoutKind(presentObject(item, kind))) : items,
  };
}

/** Items of a built-in list do not say what they are. */
function withoutKind(object: KubeObject | Fields): Fields {
  const { kind: _kind, apiVersion: _apiVersion, ...rest } = object;
  return rest;
}

function isList(body: unknown): body is ObjectList {
  return isFields(body) && body['listOf'] !== undefined;
}

function isObjectOf(body: unknown, kind: Kind): body is KubeObject {
  return isFields(body) && body['kind'] === kind.kind && isFields(body['metadata']);
}
