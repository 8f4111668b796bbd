import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { StoreDatabase } from "@gennai/store/database/database";
import { formatVersion } from "@gennai/store/database/format-version";
import { temporaryDirectory } from "@gennai/testkit/temporary-repository";
import { expect, it } from "vitest";
import { keptVersions, withKeptState } from "./kept-state.ts";

/** Tables that came after the first release of this format, each with why an older Gennai may overlook it. */
const overlooked: Readonly<Record<string, string>> = {
  export_cursor: "It exports nothing, and whoever does goes on behind what was confirmed.",
  export_gaps: "Records that a receiver refused are still lacking there, which the next export of a newer one says.",
  export_trouble: "It is about exports, which an older one does not make.",
  store_mark: "The count of durable transactions stays as it is, which is no step back.",
};

it("every released version that reads this format knows its tables, or may overlook them", async () => {
  await using directory = await temporaryDirectory();
  const file = directory.path("gennai.db");
  (await StoreDatabase.open(file))[Symbol.dispose]();
  const now = tablesIn(file).tables;
  for (const version of keptVersions) {
    const kept = await withKeptState(version, async ({ stateDir }) => tablesIn(join(stateDir, "gennai.db")));
    if (kept.format !== formatVersion) continue;
    const unknown = now.filter((name) => !kept.tables.includes(name) && !(name in overlooked));
    expect(unknown, `${version} overlooks these: raise formatVersion, or say why not`).toEqual([]);
  }
});

function tablesIn(file: string) {
  using database = new DatabaseSync(file);
  const names = database.prepare("SELECT name FROM sqlite_master WHERE type = 'table'").all();
  const format = database.prepare("PRAGMA user_version").get();
  return { format: format?.["user_version"], tables: names.map(({ name }) => String(name)) };
}
