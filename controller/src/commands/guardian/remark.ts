import { isObject, type Json } from '@cronjob-monitor/shared/domain';

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

function shown(value: unknown): string {
  return JSON.stringify(value).slice(0, 60);
}

/**
 * One block of a resource, taken apart field by field. What was not taken at the end is told: a field that has no counterpart is
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

  /** A block inside; undefined when it is absent, or is no object, which is told. */
  block(name: string): Block | undefined {
    const value = this.take(name);
    if (value === undefined) return undefined;
    if (isObject(value)) return new Block(`${this.path}.${name}`, value, this.#remarks);
    this.leftOut(name, `must be an object, is ${shown(value)}`);
    return undefined;
  }

  /** The blocks of a list inside. What is no list, and an item that is no object, is told. */
  blocks(name: string): readonly Block[] {
    const value = this.take(name);
    if (value === undefined) return [];
    if (!Array.isArray(value)) {
      this.leftOut(name, `must be a list, is ${shown(value)}`);
      return [];
    }
    return (value as readonly unknown[]).flatMap((one, index) => {
      if (isObject(one)) return [new Block(`${this.path}.${name}[${index}]`, one, this.#remarks)];
      this.leftOut(`${name}[${index}]`, `must be an object, is ${shown(one)}`);
      return [];
    });
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
