import { buildOpenApi } from '../openapi/build.ts';
import { documentedRoutes } from '../openapi/index.ts';
import type { Answer } from './http.ts';
import { resolve, schemaProblems } from './json-schema.ts';

interface Operation {
  readonly parameters: readonly unknown[];
  readonly responses: Readonly<Record<string, unknown>>;
}

interface Response {
  readonly content?: Readonly<Record<string, { readonly schema: unknown }>>;
}

/** The contract, as it is served. */
const document = buildOpenApi(documentedRoutes);
/** Operations by path and method, without the parameters that all of a path have. */
const paths = Object.fromEntries(
  Object.entries(document.paths).map(([path, { parameters: _ofAll, ...operations }]) => [path, operations]),
) as unknown as Readonly<Record<string, Readonly<Record<string, Operation>>>>;
const base = '/api/v1';

/** Every operation of the document: `GET /api/v1/alerts/{id}`. */
export const documentedOperations: readonly string[] = Object.entries(paths)
  .flatMap(([path, operations]) => Object.keys(operations).map((method) => `${method.toUpperCase()} ${base}${path}`))
  .sort();

/** Names of the parameters in the query of a documented operation. */
export function documentedQuery(operation: string): readonly string[] {
  const [method = '', path = ''] = operation.split(' ');
  const { parameters = [] } = paths[path.slice(base.length)]?.[method.toLowerCase()] ?? {};
  return parameters.flatMap((parameter) => {
    const { $ref } = parameter as { $ref?: string };
    const { in: place, name } = ($ref === undefined ? parameter : resolve($ref, document)) as {
      in: string;
      name: string;
    };
    return place === 'query' ? [name] : [];
  });
}

/** What an answer says that the document does not, a line each: its status, the type of its body, its fields. */
export function disagreements(method: string, target: string, answer: Answer): string[] {
  const [path = ''] = target.split(/[?#]/);
  if (!path.startsWith(`${base}/`) || method === 'OPTIONS') return [];
  const about = `${method} ${target} answered ${answer.status}`;
  const operation = findOperation(method, path.slice(base.length));
  // What is served nowhere is refused, in the form of every refusal.
  if (!operation)
    return answer.status >= 400 ? bodyProblems(refusal, method, answer, about) : [`${about}: no such operation`];
  const documented = operation.responses[String(answer.status)];
  if (documented === undefined) return [`${about}: the document has no such status`];
  const { $ref } = documented as { $ref?: string };
  return bodyProblems(($ref === undefined ? documented : resolve($ref, document)) as Response, method, answer, about);
}

const refusal: Response = { content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } } };

function bodyProblems({ content }: Response, method: string, answer: Answer, about: string): string[] {
  if (method === 'HEAD' || answer.status === 304) return answer.text === '' ? [] : [`${about} with a body`];
  const type = String(answer.headers['content-type'] ?? '').split(';')[0] ?? '';
  const documented = content?.[type];
  if (!documented) return [`${about} with ${type || 'no type'}, which the document does not have`];
  const isPacked = answer.headers['content-encoding'] !== undefined;
  if (type !== 'application/json' || isPacked) return [];
  return schemaProblems(documented.schema, JSON.parse(answer.text), document).map((problem) => `${about}: ${problem}`);
}

/** Words of a path go before its parameters: `history` is no id. */
function findOperation(method: string, path: string): Operation | undefined {
  const parts = path.split('/');
  const matching = Object.keys(paths).filter((template) => {
    const words = template.split('/');
    return (
      words.length === parts.length &&
      words.every((word, at) => (word.startsWith('{') ? parts[at] !== '' : word === parts[at]))
    );
  });
  const [best] = matching.toSorted((a, b) => a.split('{').length - b.split('{').length);
  return best === undefined ? undefined : paths[best]?.[method === 'HEAD' ? 'get' : method.toLowerCase()];
}
