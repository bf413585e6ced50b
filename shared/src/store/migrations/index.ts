import { runs } from './0001-runs.ts';
import { alerts } from './0002-alerts.ts';
import { outboxIndexes } from './0003-outbox-indexes.ts';
import { narrowExecutions } from './0004-narrow-executions.ts';
import { narrowColumns } from './0005-narrow-columns.ts';
import { watchOrigins } from './0006-watch-origins.ts';
import { nothingSilent } from './0007-nothing-silent.ts';
import { reach } from './0008-reach.ts';
import { rightPerson } from './0009-right-person.ts';
import { cronJobListing } from './0010-cronjob-list.ts';
import { actions } from './0011-actions.ts';
import { forecasts } from './0012-forecasts.ts';
import { earlierWords } from './0013-earlier-words.ts';
import type { Migration } from './migration.ts';

/** Every step in its order. One is added at the end; none is ever edited. */
export const migrations: readonly Migration[] = [
  runs,
  alerts,
  outboxIndexes,
  narrowExecutions,
  narrowColumns,
  watchOrigins,
  nothingSilent,
  reach,
  rightPerson,
  cronJobListing,
  actions,
  forecasts,
  earlierWords,
];

/** The number of this program: the schema it writes. */
export const schemaNumber = migrations.length;

/** The oldest schema this program can serve from. */
export const oldestUsableSchema = 13;
