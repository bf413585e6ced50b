import type { Fault } from '../domain/index.ts';
import type { Row } from './ask.ts';
import type { ColumnType } from './dialect/dialect.ts';
import { cleanText, optionalText } from './column.ts';
import { faultWords } from './words.ts';

/** Of executions and of alerts. */
export const faultColumns = { cause: 'smallint', scope: { text: 253 } } as const satisfies Record<string, ColumnType>;

/** Values of `faultColumns`. */
export function toFaultColumns(fault: Fault | undefined): readonly [number | null, string | null] {
  if (fault === undefined) return [null, null];
  return [faultWords.toNumber(fault.cause), fault.scope === undefined ? null : cleanText(fault.scope, 253)];
}

export function toFault({ cause, scope }: Row): Fault | undefined {
  return cause == null ? undefined : { cause: faultWords.toWord(cause), scope: optionalText(scope) };
}
