import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { formatVersion } from "@gennai/store/database/format-version";
import { expect, it } from "vitest";
import { keptVersions, withKeptState } from "./kept-state.ts";

/** Everything of the command line that opens the state directory. */
const commands = [
  "serve --port 0",
  "run hello --yes",
  "undo",
  "sessions",
  "sessions import ../session.jsonl",
  "plan status",
  "policy log",
  "emergency stop-all on",
  "ledger verify",
  "ledger repair",
  "ledger export",
  "ledger rotate-key",
  "ledger purge --yes",
];

it("a state of a newer version is refused and stays as it is, whatever the command", () =>
  withKeptState(keptVersions.at(-1) ?? "", async ({ stateDir, workspace, gennai }) => {
    const file = join(stateDir, "gennai.db");
    using newer = new DatabaseSync(file);
    newer.exec(`PRAGMA user_version = ${formatVersion + 1}`);
    newer.close();
    const before = [contents(stateDir), contents(workspace)];
    const waiting = commands.values();
    const refused: string[] = [];
    const work = async () => {
      for (const command of waiting) {
        const { code, output } = await gennai(...command.split(" "));
        const words = `${file} has format ${formatVersion + 1}, this Gennai reads up to ${formatVersion}: update Gennai`;
        if (code !== 0 && output.includes(words)) refused.push(command);
        else expect.soft(output, `gennai ${command} ended with ${code}`).toContain(words);
      }
    };
    await Promise.all([work(), work()]);
    expect(refused.sort()).toEqual([...commands].sort());
    expect([contents(stateDir), contents(workspace)]).toEqual(before);
  }));

/** SHA-256 of every file, and the names of all directories. */
function contents(directory: string): Readonly<Record<string, string>> {
  const entries = readdirSync(directory, { recursive: true, withFileTypes: true });
  return Object.fromEntries(
    entries.map((entry) => {
      const path = join(entry.parentPath, entry.name);
      return [path, entry.isFile() ? createHash("sha256").update(readFileSync(path)).digest("hex") : "directory"];
    }),
  );
}
