import type { Database } from './database.ts';
import type { Store } from './port.ts';
import { PostgresAnalyses } from './postgres-analyses.ts';
import { PostgresCalls } from './postgres-calls.ts';

/** The store on a database. Closing it closes the database. */
export function storeOn(database: Database): Store {
  return {
    calls: new PostgresCalls(database.orm),
    analyses: new PostgresAnalyses(database.orm),
    close: () => database.close(),
    [Symbol.asyncDispose]: () => database.close(),
  };
}
