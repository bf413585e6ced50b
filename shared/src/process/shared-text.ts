/** One piece of a text, and the promise of the next. */
interface Link {
  readonly piece: string;
  readonly next: Promise<Link | undefined>;
}

/** A text that is made piece by piece, for as many readers as ask while it is being made: it is made once for all of them. */
export class SharedText {
  readonly #make: () => AsyncIterable<string>;
  #first: Promise<Link | undefined> | undefined;

  constructor(make: () => AsyncIterable<string>) {
    this.#make = make;
  }

  async *read(): AsyncGenerator<string> {
    this.#first ??= this.#begin();
    for (let link = await this.#first; link; link = await link.next) yield link.piece;
  }

  #begin(): Promise<Link | undefined> {
    const pieces = this.#make()[Symbol.asyncIterator]();
    const over = () => {
      this.#first = undefined;
    };
    const follow = async (): Promise<Link | undefined> => {
      const { done, value } = await pieces.next();
      if (done) {
        over();
        return undefined;
      }
      const next = follow();
      next.catch(over); // The readers meet the error; here it only must not count as lost.
      return { piece: value, next };
    };
    const first = follow();
    first.catch(over);
    return first;
  }
}
