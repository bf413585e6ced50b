import { alertTypeTable, type AlertType } from '../../contract/index.ts';

/** Something that happens and is counted each time; else it is so, and can be asked again at any time. */
export function isEdge(type: AlertType): boolean {
  return alertTypeTable[type].kind === 'edge';
}
