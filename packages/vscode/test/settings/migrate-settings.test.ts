import { describe, expect, it } from "vitest";
import { type MigrationPorts, migrateSettings, type SettingsTarget } from "../../src/settings/migrate-settings.ts";

type Values = Partial<Record<SettingsTarget, Record<string, unknown>>>;

async function migrate(
  values: Values,
  options: { readonly migrated?: boolean; readonly readOnly?: SettingsTarget } = {},
) {
  const stored: string[] = [];
  const warnings: string[] = [];
  const ports: MigrationPorts = {
    read: (key, target) => values[target]?.[key],
    async write(key, value, target) {
      if (target === options.readOnly) throw new Error("read-only");
      const at = values[target] ?? {};
      if (value === undefined) delete at[key];
      else at[key] = value;
      values[target] = at;
    },
    storeToken: async (token) => void stored.push(token),
    wasMigrated: () => options.migrated ?? false,
    warn: (message) => void warnings.push(message),
  };
  await migrateSettings(ports);
  return { values, stored, warnings: warnings.length, text: warnings.join("\n") };
}

const token = "gennai.authToken";
const rina = "rinawarp.baseUrl";
const own = "gennai.baseUrl";

describe("migrateSettings", () => {
  it.each([
    { name: "nothing to do", before: {}, after: {}, stored: [], warnings: 0 },
    {
      name: "a token of the user",
      before: { user: { [token]: " a " } },
      after: { user: {} },
      stored: ["a"],
      warnings: 1,
    },
    {
      name: "a token in both places: the user's counts, both go",
      before: { user: { [token]: "a" }, workspace: { [token]: "b" } },
      after: { user: {}, workspace: {} },
      stored: ["a"],
      warnings: 1,
    },
    {
      name: "an empty token",
      before: { workspace: { [token]: "" } },
      after: { workspace: {} },
      stored: [],
      warnings: 1,
    },
    {
      name: "the address of a RinaWarp daemon, which is none of ours",
      before: { user: { [rina]: "http://127.0.0.1:8787" }, workspace: { [rina]: "http://evil:1" } },
      after: { user: { [rina]: "http://127.0.0.1:8787" }, workspace: { [rina]: "http://evil:1" } },
      stored: [],
      warnings: 0,
    },
  ])("$name", async ({ before, after, stored, warnings }) => {
    expect(await migrate(structuredClone<Values>(before))).toMatchObject({ values: after, stored, warnings });
  });

  it.each([
    ["as it was taken over", "http://127.0.0.1:8787", undefined, 1],
    ["of the user's own", "http://mine:1", "http://mine:1", 0],
  ])(
    "where an earlier version took a daemon's address over, leaves no address %s",
    async (_name, before, after, warned) => {
      const values: Values = { user: { [rina]: "http://127.0.0.1:8787", [own]: before } };
      const { warnings } = await migrate(values, { migrated: true });
      expect([values.user?.[own], warnings]).toEqual([after, warned]);
    },
  );

  it("never shows the token, and says when it could not be removed", async () => {
    const { text, stored } = await migrate({ user: { [token]: "very-secret" } }, { readOnly: "user" });
    expect(stored).toEqual(["very-secret"]);
    expect(text).not.toContain("very-secret");
    expect(text).toContain("Remove gennai.authToken");
  });
});
