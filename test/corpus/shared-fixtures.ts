import { type CommandFixture, commandFixture, type WorkspacePlace } from "./command-fixture.ts";

const open = new Map<string, Promise<CommandFixture>>();

/** One fixture for many checks: decisions change nothing in it. `closeSharedFixtures` removes it. */
export function sharedFixture(place: WorkspacePlace, intent?: string): Promise<CommandFixture> {
  const key = `${place} ${intent ?? ""}`;
  const known = open.get(key) ?? commandFixture(place, intent === undefined ? {} : { intent });
  open.set(key, known);
  return known;
}

export async function closeSharedFixtures(): Promise<void> {
  const fixtures = [...open.values()];
  open.clear();
  for (const fixture of fixtures) await (await fixture)[Symbol.asyncDispose]();
}
