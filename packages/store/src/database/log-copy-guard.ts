import type { SqliteConnection } from "@gennai/machine/sqlite-connection";
import type { StoreDatabase } from "./database.ts";
import { StoreError } from "./store-error.ts";

/** Throws `StoreError` `busy` for a replica's copy of a shared log, whose content changes only through that log. */
export function refuseLogCopy(database: StoreDatabase): void {
  if (!isLogCopy(database)) return;
  throw new StoreError(
    "busy",
    `${database.file} is a replica's copy of a log in NATS; only a running server with --log changes it. Ask that server, or set GENNAI_STATE_DIR to another directory.`,
  );
}

export function isLogCopy(database: Pick<SqliteConnection, "prepare">): boolean {
  return database.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'log_copy'").get() !== undefined;
}
