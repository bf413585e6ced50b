import { isObject } from '../read-documents.ts';

/**
 * `left out`: something that was asked for is not there any more. `changed`: it is, in another form. `to do`: a person
 * has to write or mend it, for the result cannot be used as it is.
 */
export interface Remark {
  readonly kind: 'left out' | 'changed' | 'to do';
  /** The field of cronjob-guardian's resource. */
  readonly path: string;
  readonly message: string;
}

export type Json = Readonly<Record<string, unknown>>;

/**
 * One block of a resource, taken apart field by field. What nobody took at the end is told: a field that has no counterpart is
 * never lost in silence.
 */
export class Block {
  readonly path: string;
  readonly #fields: Json;
  readonly #remarks: Remark[];
  readonly #taken = new Set<string>();

  constructor(path: string, value: unknown, remarks: Remark[]) {
    this.path = path;
    this.#fields = isObject(value) ? value : {};
    this.#remarks = remarks;
  }

  /** The value of a field; undefined when it is absent or null. */
  take(name: string): unknown {
    this.#taken.add(name);
    return this.#fields[name] ?? undefined;
  }

  /** Fields that are the same with us, under the same names. */
  same(...names: readonly string[]): Json {
    return Object.fromEntries(names.map((name) => [name, this.take(name)]).filter(([, value]) => value !== undefined));
  }

  /** A block inside; undefined when it is absent. One that is no object goes on as it is: the check of the result names it. */
  block(name: string): Block | undefined {
    const value = this.take(name);
    return isObject(value) ? new Block(`${this.path}.${name}`, value, this.#remarks) : undefined;
  }

  /** The blocks of a list inside. */
  blocks(name: string): readonly Block[] {
    const value = this.take(name);
    const list: readonly unknown[] = Array.isArray(value) ? value : [];
    return list.map((one, index) => new Block(`${this.path}.${name}[${index}]`, one, this.#remarks));
  }

  leftOut(name: string, message: string): void {
    this.#taken.add(name);
    this.#remarks.push({ kind: 'left out', path: `${this.path}.${name}`, message });
  }

  changed(name: string, message: string): void {
    this.#taken.add(name);
    this.#remarks.push({ kind: 'changed', path: `${this.path}.${name}`, message });
  }

  /** Whether the field is there. */
  has(name: string): boolean {
    return this.#fields[name] !== undefined && this.#fields[name] !== null;
  }

  /** Tells of every field that was not taken. */
  end(): void {
    for (const name of Object.keys(this.#fields)) {
      if (!this.#taken.has(name))
        this.leftOut(name, 'there is no such field here, and cronjob-guardian has none either');
    }
  }
}
