import { ClusterError, type AccessQuestion, type Cluster, type Identity } from '@cronjob-monitor/shared/kube';

/** A right as a test writes it: `list cronjobs`, `list cronjobs in prod`, `get /api/v1/config`. */
type Right = string;

/** A cluster that answers reviews alone, from a table of tokens and rights, and counts what it was asked. */
export class ReviewingCluster {
  readonly #rights = new Map<string, Set<Right>>();
  /** Every question, in order. */
  readonly asked: string[] = [];
  /** No answer comes. */
  isAway = false;

  /** The token `name` stands for the user `name`. */
  grant(name: string, ...rights: readonly Right[]): this {
    this.#rights.set(name, new Set([...(this.#rights.get(name) ?? []), ...rights]));
    return this;
  }

  revoke(name: string): void {
    this.#rights.delete(name);
  }

  /** For what makes an API. */
  asCluster(): Cluster {
    const known: Partial<Cluster> = {
      reviewToken: (token) => this.#reviewToken(token),
      reviewAccess: (identity, question) => this.#reviewAccess(identity, question),
    };
    return new Proxy(known as Cluster, {
      get: (target, key) => {
        if (key in target) return (target as unknown as Record<PropertyKey, unknown>)[key];
        throw new Error(`this cluster answers reviews alone, and was asked for ${String(key)}`);
      },
    });
  }

  async #reviewToken(token: string): Promise<Identity | undefined> {
    this.asked.push(`token ${token}`);
    this.#answer('tokenreviews');
    if (!this.#rights.has(token)) return undefined;
    return { user: token, uid: `uid of ${token}`, groups: ['system:authenticated'], extra: {} };
  }

  async #reviewAccess({ user }: Identity, question: AccessQuestion): Promise<boolean> {
    this.asked.push(`${user}: ${wordsOf(question)}`);
    this.#answer('subjectaccessreviews');
    const rights = this.#rights.get(user);
    const isEverywhere = 'path' in question || question.namespace === undefined;
    const everywhere = 'path' in question ? question : { ...question, namespace: undefined };
    return rights?.has(wordsOf(question)) === true || (!isEverywhere && rights?.has(wordsOf(everywhere)) === true);
  }

  #answer(resource: string): void {
    if (!this.isAway) return;
    throw new ClusterError('unreachable', { verb: 'create', resource, message: 'no server answers' });
  }
}

function wordsOf(question: AccessQuestion): Right {
  if ('path' in question) return `${question.verb} ${question.path}`;
  const { verb, resource, subresource, namespace } = question;
  const what = subresource === undefined ? resource : `${resource}/${subresource}`;
  return `${verb} ${what}${namespace === undefined ? '' : ` in ${namespace}`}`;
}
