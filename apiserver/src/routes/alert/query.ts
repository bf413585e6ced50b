import * as yup from 'yup';
import { anyText, text } from '../query.ts';

export const acknowledgeBody = yup.object({ note: anyText(500), expiresAt: anyText(64), by: text(100) });
