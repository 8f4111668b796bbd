import { expect, test, vi } from "vitest";
import { readSettings, replSettings } from "../../src/settings/settings.ts";

const { configured } = vi.hoisted(() => ({ configured: new Map<string, unknown>() }));
vi.mock("vscode", () => ({
  workspace: { getConfiguration: () => ({ get: (key: string) => configured.get(key), inspect: () => undefined }) },
}));

test.each([
  { set: undefined, sent: 600 },
  { set: 20, sent: 20 },
  { set: 0, sent: 0 },
])("sessions that the REPL begins let a question wait as the settings say: $set", ({ set, sent }) => {
  configured.set("questionSeconds", set);
  expect(replSettings(readSettings())).toMatchObject({ questionSeconds: sent });
});
